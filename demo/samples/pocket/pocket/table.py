'''Plain text tables.'''
import os
import sys
from typing import Dict, List


def render(rows:  List[Dict[str, str]]) -> str:
    '''One line a row, columns as wide as their widest cell.'''
    if not rows: return ''
    names = list(rows[0])
    widths = [ max(len(name), *(len(row[name]) for row in rows))  for name in names ]
    lines = ['  '.join(name.ljust(width) for name, width in zip(names,widths)).rstrip()]
    for row in rows:
        lines.append( '  '.join(row[name].ljust(width) for name, width in zip(names, widths)).rstrip() )
    return '\n'.join(lines)
