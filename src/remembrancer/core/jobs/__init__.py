"""Pure rules of jobs: days, schedules, backing off, what retention takes."""
