// library: crates robotstxt 0.3.0
fn main() {
    for line in std::io::stdin().lines() {
        let parts: Vec<String> = line.unwrap().split('\t').map(text).collect();
        let allowed = std::panic::catch_unwind(|| {
            robotstxt::DefaultMatcher::default().one_agent_allowed_by_robots(&parts[0], &parts[1], &parts[2])
        });
        println!("{}", match allowed { Ok(true) => "1", Ok(false) => "0", _ => "-" });
    }
}

fn text(hex: &str) -> String {
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
