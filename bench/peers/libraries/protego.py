# library: pypi protego 0.7.0
import answer
from protego import Protego

answer.all(lambda robots, crawler, url: Protego.parse(robots).can_fetch(url, crawler))
