//! The models of the book's explorers do what the emulated GPU does.

use figures::explorers::Engine;
use figures::models::{model_cases, models_js};

#[test]
fn the_models_do_what_the_emulated_gpu_does_and_a_wrong_one_is_found() -> anyhow::Result<()> {
    let (models, cases) = (models_js()?, model_cases()?);
    let Some(engine) = Engine::here().first().copied() else {
        eprintln!("not run: neither node nor chromium is here");
        return Ok(());
    };
    let scratch = std::env::temp_dir().join(format!("figures-models-{}", std::process::id()));
    assert_eq!(engine.run(&models, &cases, &scratch)?, cases.len());
    for (right, wrong) in [
        ("registers) * 32, 256)", "registers) * 32, 128)"),
        ("shared + 1024", "shared"),
        ("address >> 3", "address >> 4"),
        ("lane >> 2, lane & 3]", "lane & 7, lane >> 3]"),
        ("group.ends[step - 1] <= time))", "true))"),
        ("release(group, step - 1);\n", "{ release(group, step - 1); log[1].push(\"wait\"); }\n"),
        ("boxes: 4, to: [0, 1]", "boxes: 8, to: [0, 1]"),
        ("Math.min(block, total % blocks)", "block"),
        ("Math.floor(steps / stages)", "steps"),
    ] {
        assert!(models.contains(right), "the models have no `{right}`");
        let wrong_model = models.replace(right, wrong);
        let error = engine.run(&wrong_model, &cases, &scratch).err().map(|error| error.to_string());
        let told = error.as_deref().is_some_and(|error| error.starts_with("disagreed"));
        assert!(told, "`{wrong}` for `{right}`: {error:?}");
    }
    std::fs::remove_dir_all(&scratch)?;
    Ok(())
}

#[test]
fn the_page_of_everything_that_moves_links_every_explorer() -> anyhow::Result<()> {
    let chapters = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let moves = std::fs::read_to_string(chapters.join("moves.md"))?;
    for chapter in std::fs::read_dir(&chapters)? {
        let path = chapter?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|name| name.ends_with(".md")) else {
            continue;
        };
        for element in std::fs::read_to_string(&path)?.lines().filter(|line| line.contains(" data-explorer=\"")) {
            let id = element.split(" id=\"").nth(1).and_then(|rest| rest.split('"').next());
            let link = format!("({name}#{})", id.unwrap_or("an id"));
            assert!(moves.contains(&link), "moves.md has no link {link}");
        }
    }
    Ok(())
}
