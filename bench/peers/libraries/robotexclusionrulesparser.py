# library: pypi robotexclusionrulesparser 1.7.1
import answer
from robotexclusionrulesparser import RobotExclusionRulesParser


def ask(robots, crawler, url):
    parser = RobotExclusionRulesParser()
    parser.parse(robots)
    return parser.is_allowed(crawler, url)


answer.all(ask)
