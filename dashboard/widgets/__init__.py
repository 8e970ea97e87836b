"""Parts of pages that more than one page draws: the strip, the job card, empty states, errors."""
