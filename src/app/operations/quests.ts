// The queue of quests: what is to be done, in which order, and who drives it.
import { PRIORITIES } from '../../kernel/ledger/state.ts';
import { CRON_CHARS_MAX } from '../../kernel/quest/cron.ts';
import { entriesOf, FOREIGN } from '../operation.ts';
import { START } from './driving.ts';

const QUEST = {
  type: 'text',
  word: 'QUEST',
  required: true,
  charsMax: 64,
  means: 'the quest: its id such as Q-3, or its number',
  example: 'Q-3',
} as const;
const NAMED = {
  type: 'text',
  word: 'QUEST',
  charsMax: 64,
  means: 'the quest that is done first, whatever its place in the order',
  example: 'Q-3',
} as const;
const REASON = { type: 'text', charsMax: 2_000, means: 'why, for the log', example: 'not needed any more' } as const;
const PRIORITY = { type: 'choice', of: PRIORITIES, noun: 'priority' } as const;
const { agents, runner, model, file, materia, link, from, input, inputFile, inputs, set } = START;
const HOW = {
  loadout: {
    ...START.loadout,
    means: 'the loadout of quests that name none (default: quests.loadout, then activeLoadout)',
  },
  file,
  agents,
  runner,
  model,
  inPlace: { type: 'flag', means: 'casts work in the directory itself, as with `baton cast --in-place`' },
} as const;
const BY_COMMAND = { leftOut: 'it drives casts until the queue is done; a process of its own does that' } as const;

export const QUEST_ROWS = entriesOf('casts', {
  'quest.add': {
    act: 'steer',
    peopleOnly: 'put work into the queue',
    means: 'put a quest into the queue; nothing starts by that',
    example: 'baton quest add "Write the release notes" --after Q-1',
    fields: {
      request: { ...START.request, word: 'REQUEST', charsMax: 65_536, means: 'what the cast of the quest shall do' },
      title: {
        type: 'text',
        charsMax: 120,
        means: 'its name in lists (default: the beginning of the request)',
        example: 'Notes',
      },
      loadout: { ...START.loadout, means: 'which loadout (default: what `quest run` or the configuration says)' },
      ...{ materia, link, from, runner, model, input, inputFile, inputs, set },
      priority: {
        ...PRIORITY,
        means: 'it comes after all quests of the same or a higher priority (default: normal)',
        example: 'high',
      },
      after: {
        type: 'list',
        of: { type: 'text', charsMax: 64 },
        itemsMax: 64,
        value: 'QUEST',
        means: 'a quest that has to succeed first; can be given several times',
        example: ['Q-1'],
      },
      cron: {
        type: 'text',
        charsMax: CRON_CHARS_MAX,
        value: 'LINE',
        means: 'add it again and again, at the times of a line of cron; `quest run --follow` does so',
        example: '0 3 * * 1-5',
      },
      zone: {
        type: 'text',
        charsMax: 64,
        value: 'NAME',
        means: 'the time zone of --cron (default: that of this machine)',
        example: 'Europe/Berlin',
      },
    },
    mcp: {
      name: 'quest_add',
      audience: 'person',
      description:
        'Put a quest into the queue of work. Nothing starts by that: a process that drives the queue does the quests in order. inputs are the values that the loadout declares. details.quest is its id.',
      without: ['input', 'inputFile', 'set'],
    },
  },
  'quest.list': {
    act: 'look',
    means: 'show the queue: what is at work, what comes next and what it waits for, what failed, schedules',
    example: 'baton quest list',
    fields: {
      status: {
        type: 'choice',
        of: ['open', 'pending', 'running', 'failed', 'succeeded', 'all'],
        means: 'which ones (default: open, which is all but the succeeded ones)',
        example: 'failed',
      },
      limit: { type: 'count', min: 1, max: 1_000, means: 'at most so many', example: 20 },
    },
    mcp: {
      name: 'quest_list',
      audience: 'person',
      description: `Show the queue of quests in order: at work, pending, failed, and schedules. ${FOREIGN}`,
    },
  },
  'quest.reorder': {
    act: 'steer',
    peopleOnly: 'order the queue',
    means: 'move a pending quest; next to another one, it gets the priority of that one',
    example: 'baton quest reorder Q-7 --before Q-2',
    fields: {
      quest: QUEST,
      first: { type: 'flag', means: 'before all others' },
      last: { type: 'flag', means: 'after all others' },
      before: { type: 'text', charsMax: 64, value: 'QUEST', means: 'right before that one', example: 'Q-2' },
      behind: { type: 'text', charsMax: 64, value: 'QUEST', means: 'right behind that one', example: 'Q-2' },
      priority: { ...PRIORITY, means: 'to the end of the quests of this priority', example: 'high' },
    },
    mcp: {
      name: 'quest_reorder',
      audience: 'person',
      description: 'Move a pending quest in the queue: first, last, before or behind another one, or by priority.',
    },
  },
  'quest.run': {
    act: 'steer',
    peopleOnly: 'drive the queue',
    means: 'do the quests one after the other, until nothing is left that can be done',
    example: 'baton quest run --follow',
    fields: {
      quest: NAMED,
      follow: {
        type: 'flag',
        means: 'stay, do what is added later, and add what schedules say, until Ctrl-C or `quest stop`',
      },
      ...HOW,
    },
    endsBySignal: true,
    mcp: BY_COMMAND,
  },
  'quest.runonce': {
    act: 'steer',
    peopleOnly: 'drive the queue',
    means: 'do the next quest, or the named one, and no other',
    example: 'baton quest runonce Q-3',
    fields: { quest: NAMED, ...HOW },
    endsBySignal: true,
    mcp: BY_COMMAND,
  },
  'quest.stop': {
    act: 'steer',
    peopleOnly: 'stop the queue',
    means: 'let every process that drives the queue end after the quest that it is at',
    example: 'baton quest stop',
    fields: { reason: REASON },
    mcp: {
      name: 'quest_stop',
      audience: 'person',
      description: 'Let every process that drives the queue end after the quest that it is at. Nothing is lost.',
    },
  },
  'quest.requeue': {
    act: 'steer',
    peopleOnly: 'put work into the queue',
    means: 'put a failed quest into the queue again; a new cast does it from the beginning',
    example: 'baton quest requeue Q-3',
    fields: { quest: QUEST, reason: REASON },
    mcp: {
      name: 'quest_requeue',
      audience: 'person',
      description: 'Put a failed quest into the queue again, behind the others of its priority.',
    },
  },
  'quest.remove': {
    act: 'steer',
    peopleOnly: 'take work out of the queue',
    means: 'take a quest that is not at work out of the queue, or end a schedule',
    example: 'baton quest remove S-1',
    fields: {
      quest: { ...QUEST, means: 'the quest such as Q-3, or the schedule such as S-1' },
      reason: REASON,
    },
    mcp: {
      name: 'quest_remove',
      audience: 'person',
      description: 'Take a quest that is not at work out of the queue, or end a schedule.',
    },
  },
});
