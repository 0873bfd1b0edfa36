# library: pypi robotspy 0.13.0
import answer
from robots import RobotsParser

answer.all(lambda robots, crawler, url: RobotsParser.from_string(robots).can_fetch(crawler, url))
