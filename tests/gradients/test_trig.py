from tests.gradients.harness import Case, each_case

CASES = [Case("sin", complex_domain=(-1,1)), Case("multiply", call=lambda np,x,y: x*y, shapes=[((3,),(2,3)),(float,(2,))], complex_domain=[(-1,1),None])]
@each_case(CASES)
def test_rule(case, check):
    check(case)
