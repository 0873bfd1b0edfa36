# library: python urllib.robotparser
from urllib.robotparser import RobotFileParser

import answer


def ask(robots, crawler, url):
    parser = RobotFileParser()
    parser.parse(robots.splitlines())
    return parser.can_fetch(crawler, url)


answer.all(ask)
