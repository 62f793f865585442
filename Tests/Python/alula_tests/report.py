"""What the longer suites print."""


class Report:
    """Prints results line by line, and collects the wrong ones."""

    def __init__(self):
        self.faults = []

    def line(self, text):
        print(text, flush=True)

    def check(self, holds, text):
        print(f"{'ok  ' if holds else 'FAIL'}  {text}", flush=True)
        if not holds:
            self.faults.append(text)
