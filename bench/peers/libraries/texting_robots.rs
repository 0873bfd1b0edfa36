// library: crates texting_robots 0.2.2
fn main() {
    for line in std::io::stdin().lines() {
        let parts: Vec<Vec<u8>> = line.unwrap().split('\t').map(bytes).collect();
        let text = |i: usize| String::from_utf8_lossy(&parts[i]).into_owned();
        let allowed = std::panic::catch_unwind(|| {
            texting_robots::Robot::new(&text(1), &parts[0]).map(|robot| robot.allowed(&text(2)))
        });
        println!("{}", match allowed { Ok(Ok(true)) => "1", Ok(Ok(false)) => "0", _ => "-" });
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}
