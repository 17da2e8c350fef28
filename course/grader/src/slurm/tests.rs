use super::*;

#[test]
fn scripts_quote_what_they_are_given() {
    let command = ["/x/xtask", "grade", "/a b/it's"].map(str::to_owned);
    let jobs = Jobs {
        command: &command,
        variables: &[("TILE_JUDGE".into(), "/x/judge".into())],
        folder: Path::new("/checkout"),
        scripts: Path::new("/out/slurm"),
        parts: 8,
    };
    let part = jobs.part();
    assert!(part.contains("#SBATCH --array=0-7\n"), "{part}");
    assert!(
        part.ends_with(
            "export TILE_JUDGE=/x/judge\nexec /x/xtask grade '/a b/it'\\''s' --jobs 1 --part \
                 \"$SLURM_ARRAY_TASK_ID/8\"\n"
        ),
        "{part}"
    );
    assert!(jobs.submit().contains("--output=/out/slurm/part-%a.log \"$@\" /out/slurm/part.sh)\n"));
}
