#!/bin/sh
# Makes a git repository in $1 with a commit at the time $2. Its configuration names programs, of which each leaves a
# file in $3 when it runs. The fourth word `run` runs plain git commands, which start all of them.
set -eu
mkdir -p "$1/my" "$3"
cd "$1"
export GIT_COMMITTER_DATE="$2 +0000" GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
blob() { echo ".git/objects/$(git rev-parse HEAD:my/v02.cu | sed 's,..,&/,')"; }
case ${4:-} in
hide) # the text of the committed file, which git would then fetch
  mv "$(blob)" away
  exit
  ;;
run) # after `hide`
  for words in status 'update-index --force-write-index' log 'cat-file blob HEAD:my/v02.cu'; do
    git $words || true
  done
  mv away "$(blob)"
  exit
  ;;
esac
git init -q
printf 'x\r\n' > my/v02.cu
git add my
git -c user.name=a -c user.email=a@b commit -q -m x
# A commit with a signature, which `log` lets a program check.
git cat-file commit HEAD | sed '/^$/i gpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----' > signed
git hash-object -t commit -w signed > ".git/$(git symbolic-ref HEAD)"
evil() {
  printf '#!/bin/sh\ntouch %s/%s\nexit 1\n' "$2" "$1" > "evil-$1"
  chmod +x "evil-$1"
  echo "$PWD/evil-$1"
}
mkdir -p .git/hooks
cp "$(evil hook "$3")" .git/hooks/post-index-change
printf '[gpg]\nprogram = %s\n' "$(evil gpg "$3")" > included
cat >> .git/config <<CONFIG
[core]
	fsmonitor = $(evil fsmonitor "$3")
	repositoryFormatVersion = 1
[log]
	showSignature = true
[includeIf "gitdir:**"]
	path = $PWD/included
[extensions]
	partialClone = up
[remote "up"]
	promisor = true
	url = ext::$(evil remote "$3")
[protocol "ext"]
	allow = always
CONFIG
rm -f "$3"/*
