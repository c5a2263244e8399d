//! Pictures of seven pages in two sizes and two themes beside those that were looked at. `BLESS=1` takes them anew: look at them.

use crate::browser::{Browser, SKIPPED};
use crate::browser_pictures::{differences, picture};
use crate::folder::Folder;
use crate::left::SEARCH;
use crate::{printed, trained};
use std::path::{Path, PathBuf};

/// Sizes of the window, and themes by the flag that chooses them.
const SIZES: [(&str, &str); 2] = [("wide", "1280,1400"), ("narrow", "420,1400")];
const THEMES: [(&str, u8); 2] = [("light", 1), ("dark", 0)];
/// Pictures are small: they are compared by blocks, since other machines have other fonts.
const SCALE: &str = "--force-device-scale-factor=0.5";
/// The mean difference and the share of blocks far off that other fonts may make.
const MAX_MEAN: f64 = 6.0;
const MAX_FAR: f64 = 0.06;

const STRANGE: &str = "graph \"strange 🙂\" { x: f32[N, 4] = placeholder
    a = linear(x) { target = \"one.<b>.fc\", in_features = 4, out_features = 8 }
    NAME = relu(a) { target = \"one.<b>.act\" }
    z = sub(NAME, NAME)
    d = div(NAME, z)
    return d }";

/// The pages, by name, with the address to open them at.
fn pages(folder: &Path) -> Vec<(&'static str, String, &'static str)> {
    trained(folder);
    printed(
        "train jsc-tiny jsc-sim --max-epochs 3 --learning-rate 3e-2 --project second --quiet",
        folder,
    );
    std::fs::write(folder.join("s.toml"), SEARCH).unwrap();
    let strange = STRANGE.replace("NAME", &"very_long_".repeat(30));
    std::fs::write(folder.join("strange.mg"), strange).unwrap();
    printed(
        "search --config s.toml --load mase_output/float --project searched --quiet",
        folder,
    );
    let rounded = "mase_output/rounded jsc-sim --num-samples 200";
    for (name, arguments) in [
        ("network", "resnet18 --num-samples 1".to_owned()),
        ("change", format!("{rounded} --against mase_output/float")),
        ("profiles", rounded.to_owned()),
        (
            "training",
            "mase_output/float jsc-sim --num-samples 200 --runs mase_output/second".to_owned(),
        ),
        ("strange", "strange.mg --against jsc-tiny.mg".to_owned()),
    ] {
        if name == "strange" {
            let other = "graph \"other\" { y: f32[N, 4] = placeholder\n g = gelu(y)\n return g }";
            std::fs::write(folder.join("jsc-tiny.mg"), other).unwrap();
        }
        printed(&format!("report {arguments} --out {name}.html"), folder);
    }
    printed(
        "emit jsc-toy jsc-sim --quantize-rest 6 --rows 20 --out hardware --quiet",
        folder,
    );
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
    // A chapter far down is shown alone.
    let alone = |path: &str, others: &str| {
        format!(
            "{}<style>{others} {{ display: none !important }}</style>",
            read(path)
        )
    };
    vec![
        ("network", read("network.html"), "#node=layer1_0_conv1"),
        ("change", read("change.html"), "#node=seq_blocks_2"),
        ("profiles", alone("profiles.html", "#graph, #nodes"), ""),
        (
            "training",
            alone("training.html", "#graph, #nodes, #profiles"),
            "",
        ),
        (
            "search",
            read("mase_output/searched/software/search_ckpts/report.html"),
            "",
        ),
        ("strange", read("strange.html"), ""),
        ("hardware", read("hardware/page.html"), "#neuron-2-1"),
    ]
}

#[test]
fn pages_look_as_they_did_when_somebody_looked() {
    let Some(browser) = Browser::find() else {
        println!("{SKIPPED}");
        return;
    };
    let folder = Folder::new("report_pictures");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/pictures");
    let is_new = std::env::var_os("BLESS").is_some();
    let (mut names, mut pairs): (Vec<PathBuf>, Vec<[Vec<u8>; 2]>) = Default::default();
    for (page, html, address) in pages(&folder) {
        for (size, window) in SIZES {
            for (theme, scheme) in THEMES {
                let flags = format!(
                    "--window-size={window} {SCALE} --blink-settings=preferredColorScheme={scheme}"
                );
                let taken = picture(&browser, &html, address, &flags, &[]);
                let path = kept.join(format!("{page}-{size}-{theme}.png"));
                if is_new {
                    std::fs::create_dir_all(&kept).unwrap();
                    std::fs::write(&path, &taken).unwrap();
                }
                pairs.push([std::fs::read(&path).unwrap(), taken]);
                names.push(path);
            }
        }
    }
    // Dark is not light: the measure sees what it must.
    pairs.push([pairs[0][1].clone(), pairs[1][1].clone()]);
    let measured = differences(&browser, &pairs);
    for (path, own) in names.iter().zip(&measured) {
        let name = path.file_name().unwrap().to_string_lossy();
        println!("{name}: mean {:.2}, far {:.3}", own.mean, own.far);
        assert!(
            own.mean <= MAX_MEAN && own.far <= MAX_FAR,
            "{name}: {own:?}"
        );
    }
    assert!(measured.last().unwrap().mean > 100.0);
}
