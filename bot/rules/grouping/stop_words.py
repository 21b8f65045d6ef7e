"""Words that say nothing about what an issue is about: function words of English and Korean, and greetings."""

from __future__ import annotations

_ENGLISH = """a about above after again against all almost also although always am an and another any anyone anything
are aren as at be because been before being below between both but by can cannot could couldn did didn do does doesn
doing don done down due during each either else even ever every everything few for from further get gets getting give
go goes going got had has hasn have haven having he hello help her here hers hi him his how however if in instead into
is isn it its itself just like ll maybe me might more most much must my myself near no nor not nothing now of off often
on once only onto or other others otherwise our ours out over own per perhaps please quite rather re really same
seem seems several shall she should shouldn since so some someone something still such than thank thanks that the their
them then there therefore these they thing things this those though through thus to together too under until up upon us
use used uses using ve very via want was wasn we well were weren what when whenever where whether which while who whom
whose why will with within without won would wouldn yes yet you your yours"""
_KOREAN = """가장 감사합니다 같습니다 같아요 같은 거의 것을 것이 것입니다 경우 경우에 계속 그것 그냥 그때 그래서 그러나
그런 그런데 그리고 다른 다시 대한 대해 대해서 되는 되어 됩니다 등의 등이 따라 따라서 때문에 또는 또한 매우 모두 모든
바로 보다 부탁드립니다 아니라 아래 아래와 아주 안녕하세요 어떤 어떻게 없는 없습니다 없어요 에서 여기 여러 우리 위해 으로
의해 이것 이것은 이것이 이런 이렇게 이미 있는 있습니다 있어요 있었습니다 저는 저희 정말 제가 조금 좀더 지금 통해 하고
하는 하면 하지만 한다 합니다 항상 해서 해야 했는데 했습니다 혹시 혹은"""

STOP_WORDS = frozenset(f"{_ENGLISH} {_KOREAN}".split())
