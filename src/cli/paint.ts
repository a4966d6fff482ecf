// Colours, where a person looks at a terminal that knows them and did not refuse them.

export type Paint = Readonly<Record<'dim' | 'good' | 'bad' | 'warn' | 'bold', (text: string) => string>>;

/** A line that was made safe and laid out already: it is printed as it is, with its colours. */
export class Ready {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A line of text is made safe and is wrapped between words. */
export type ShownLine = string | Ready;

export function painter(hasColour: boolean): Paint {
  const wrap = (code: number) => (text: string) => (hasColour && text !== '' ? `\x1b[${code}m${text}\x1b[0m` : text);
  return { dim: wrap(2), good: wrap(32), bad: wrap(31), warn: wrap(33), bold: wrap(1) };
}

type Screen = Pick<NodeJS.WriteStream, 'isTTY'>;

export function paintFor(screen: Screen, env: NodeJS.ProcessEnv = process.env): Paint {
  return painter(isSmart(screen, env) && !env.NO_COLOR);
}

/** A dumb terminal is one that shows escape sequences instead of following them. */
export function isSmart({ isTTY }: Screen, env: NodeJS.ProcessEnv = process.env): boolean {
  return isTTY === true && env.TERM !== 'dumb';
}

const STATUS_COLOURS: Readonly<Record<string, keyof Paint>> = {
  ...{ completed: 'good', done: 'good', passed: 'good', accepted: 'good', active: 'good', usable: 'good' },
  ...{ failed: 'bad', aborted: 'bad', crashed: 'bad', blocked: 'bad', refused: 'bad', FAILED: 'bad' },
  ...{ waiting: 'warn', paused: 'warn', parked: 'warn', canceled: 'warn', skipped: 'warn', expired: 'warn' },
  ...{ running: 'bold', in_progress: 'bold' },
};

/** A status in its colour: green is over and good, red is bad, yellow needs a person. */
export function statusColour(text: string, paint: Paint): string {
  const [word = ''] = text.trim().split(/[ ,(]/, 1);
  const colour = Object.hasOwn(STATUS_COLOURS, word) ? STATUS_COLOURS[word] : undefined;
  return colour === undefined ? text : paint[colour](text);
}
