// How many of the commands that an agent was seen to run are noted, and how much of each.

export const COMMANDS_MAX = 50;
export const COMMAND_CHARS_MAX = 300;
