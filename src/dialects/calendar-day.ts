// The days of the calendar as a regular expression, for published schemas: a day that does not exist fits no schema, just
// as no validator reads it.

const LONG = '(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])';
const SHORT = '(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)';
const FEBRUARY = '02-(?:0[1-9]|1\\d|2[0-8])';
const LEAP_YEAR = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';

/** Year, month and day with hyphens between. */
export const CALENDAR_DAY = `(?:\\d{4}-(?:${LONG}|${SHORT}|${FEBRUARY})|${LEAP_YEAR}-02-29)`;
/** The hours of a day; minutes and seconds. */
export const HOUR = '(?:[01]\\d|2[0-3])';
export const MINUTE = '[0-5]\\d';
