class Robobatch < Formula
  desc "Decide for every URL of a log whether robots.txt lets a crawler fetch it"
  homepage "https://github.com/robobatch/robobatch"
  version "{{slice .Version 1}}"
  license "Apache-2.0"

  on_macos do
    on_intel do
      url "https://github.com/robobatch/robobatch/releases/download/{{.Version}}/robobatch-darwin-amd64.tar.gz"
      sha256 "{{index .Sums "robobatch-darwin-amd64.tar.gz"}}"
    end
    on_arm do
      url "https://github.com/robobatch/robobatch/releases/download/{{.Version}}/robobatch-darwin-arm64.tar.gz"
      sha256 "{{index .Sums "robobatch-darwin-arm64.tar.gz"}}"
    end
  end

  on_linux do
    on_intel do
      url "https://github.com/robobatch/robobatch/releases/download/{{.Version}}/robobatch-linux-amd64.tar.gz"
      sha256 "{{index .Sums "robobatch-linux-amd64.tar.gz"}}"
    end
    on_arm do
      url "https://github.com/robobatch/robobatch/releases/download/{{.Version}}/robobatch-linux-arm64.tar.gz"
      sha256 "{{index .Sums "robobatch-linux-arm64.tar.gz"}}"
    end
  end

  def install
    bin.install "robobatch"
    man1.install "man/man1/robobatch.1"
    bash_completion.install "completion/robobatch.bash" => "robobatch"
    fish_completion.install "completion/robobatch.fish"
    zsh_completion.install "completion/_robobatch"
  end

  test do
    (testpath/"robots.txt").write "User-agent: *\nDisallow: /x\n"
    assert_match "disallowed", shell_output("#{bin}/robobatch explain -rules robots.txt https://example.com/x")
  end
end
