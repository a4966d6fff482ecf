// Whoever looks in between, and however often, sees the same in the end; and what is told live is what `show` says.
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { play } from '../../../test/play.ts';
import { config, data, script } from '../../../test/random-casts.ts';
import type { Entry } from '../../kernel/fact.ts';
import { entryFromLine } from '../../log/line.ts';
import { emptyView, fold, foldAll, type View } from './cast-view.ts';
import { tasksIn } from './result.ts';
import { shownCast } from './shown-cast.ts';
import { turnDetailOf } from './turn-detail.ts';
import { whyOf } from './why/why.ts';

const RUNS = { numRuns: Number(process.env.FUZZ_RUNS ?? 100) };
const HEAD = { seq: 0, hash: '' };

/** Everything that somebody can look at. */
async function shown(view: View) {
  const { cast } = view;
  if (!cast) return null;
  const situation = { cast, view, now: 0, baton: 'baton', driver: null, ledger: null, quarantine: [] };
  return {
    cast: shownCast(view, HEAD, true),
    tasks: tasksIn(view),
    turns: [...view.turns.keys()].map((turn) => turnDetailOf(view, turn, () => null)),
    why: await whyOf(situation),
  };
}

/** Looks after every entry, at a part of the view in turn: all of it each time takes too long. */
async function lookedAtOften(entries: readonly Entry[]): Promise<View> {
  const view = emptyView();
  for (const [index, entry] of entries.entries()) {
    fold(view, entry);
    if (index % 7 === 0) await shown(view);
  }
  return view;
}

function castsIn(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const ids = entries.flatMap(({ fact }) => (fact.kind === 'cast.started' ? [fact.cast] : []));
  return ids.map((id) => entries.filter(({ fact }) => 'cast' in fact && fact.cast === id));
}

/** What a follower adds up, entry by entry. An answer that is still looked at has no end yet. */
function usedIn(entries: readonly Entry[]): number {
  const used = entries.flatMap(({ fact }) =>
    'usage' in fact && 'attempt' in fact && fact.kind !== 'attempt.answered' ? [fact.usage] : [],
  );
  return used.reduce((sum, { input, output }) => sum + input + output, 0);
}

const FOLDER = new URL('../../../test/replay/', import.meta.url);
const GOLDEN = readdirSync(FOLDER).filter((name) => /^golden-\d+\.jsonl$/.test(name));

test.each(GOLDEN)('the casts of %s are the same, looked at once or often', async (name) => {
  const [, ...lines] = readFileSync(new URL(name, FOLDER), 'utf8').trim().split('\n');
  const stored = lines.map((line) => JSON.parse(line) as { line: string; texts: Record<string, string> });
  const casts = castsIn(stored.map(({ line, texts }) => entryFromLine(line, (digest) => texts[digest] ?? null)));
  expect(casts.length).toBeGreaterThan(0);
  for (const entries of casts) {
    const whole = foldAll(entries);
    expect(await shown(await lookedAtOften(entries))).toEqual(await shown(whole));
    expect(shownCast(whole, HEAD, false).usage.tokens).toBe(usedIn(entries));
  }
});

test('so is every other cast', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(config, script, data, async (config, agents, data) => {
      const { entries, cast } = play({ config, agents, data });
      const view = await lookedAtOften(entries);
      expect(view.cast).toEqual(cast);
      expect(await shown(view)).toEqual(await shown(foldAll(entries)));
      expect(shownCast(view, HEAD, false).usage.tokens).toBe(usedIn(entries));
    }),
    RUNS,
  );
});
