'''Lines to draw between tables.'''


def rule(width:int, sign:str='-') -> str:
    '''One line of signs, `width` columns wide.'''
    if not sign: return ''
    return (sign*width)[ :width ]
