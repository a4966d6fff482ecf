// The output of an attempt: as it streams, and in its own words with each issue at the value that it is about.
import { type ReactNode, useMemo, useState } from 'react';
import type { TurnRow } from '../../../src/app/views/turn-rows.ts';
import type { Text } from '../api.ts';
import { useKeys } from '../keys.ts';
import { Button } from '../parts/button.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { Source, useText } from '../parts/source.tsx';
import { Foreign, ForeignLines } from '../parts/text.tsx';
import { count, plural, stopwatch } from '../words.ts';
import { type Follower, useSpeech } from './follow.ts';
import { placeIssues } from './json-place.ts';
import { useTick } from './tick.ts';
import type { AttemptStory } from './turn-story.ts';
import { wordDiff } from './word-diff.ts';

/** The output in its own words. JSON on one line is set in lines, which `Raw` takes back. */
export function Answer({
  text,
  issues,
  by,
  before,
}: {
  text: Text;
  issues: AttemptStory['issues'];
  by: string;
  before: AttemptStory | null;
}): ReactNode {
  const loaded = useText(text);
  const whole = loaded.is === 'text' ? loaded.text : null;
  const [isRaw, setRaw] = useState(false);
  const [isCompared, setCompared] = useState(false);
  const spread = useMemo(() => (whole === null ? null : inLines(whole)), [whole]);
  const shown = isRaw || spread === null ? whole : spread;
  const placed = useMemo(
    () => (shown === null ? { marks: [], unplaced: [] } : placeIssues(shown, issues)),
    [shown, issues],
  );
  useKeys(
    'Output',
    spread === null ? [] : [{ keys: 'alt+r', says: 'The output as it was sent', run: () => setRaw(!isRaw) }],
  );
  const lines = whole === null ? '' : `, ${plural((shown ?? '').trimEnd().split('\n').length, 'line')}`;
  return (
    <>
      {placed.unplaced.length > 0 ? (
        <ul className="whole-issues">
          {placed.unplaced.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <Foreign text={message} /> <span>in the whole output</span>
            </li>
          ))}
        </ul>
      ) : null}
      <Source
        text={shown ?? text}
        label="the output"
        marks={placed.marks}
        title={
          <>
            <Foreign text={`${by} wrote`} />
            <span className="quiet">{lines}</span>
          </>
        }
        acts={
          spread === null ? null : (
            <Button kind="quiet" keys="alt+r" isPressed={isRaw} onPress={() => setRaw(!isRaw)}>
              Raw
            </Button>
          )
        }
      />
      {before === null ? null : (
        <div>
          <Button kind="plain" isPressed={isCompared} onPress={() => setCompared(!isCompared)}>
            What changed since attempt {before.attempt}
          </Button>
        </div>
      )}
      {isCompared && before?.output != null ? <ChangedWords before={before.output} after={text} /> : null}
    </>
  );
}

/** Null where the text is no JSON, or has lines already. */
function inLines(text: string): string | null {
  if (text.trim().includes('\n') || !/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

function ChangedWords({ before, after }: { before: Text; after: Text }): ReactNode {
  const [was, is] = [useText(before), useText(after)];
  const pieces = useMemo(
    () => (was.is === 'text' && is.is === 'text' ? wordDiff(spreadOut(was.text), spreadOut(is.text)) : null),
    [was, is],
  );
  if (pieces === null)
    return <p className="pane-note">{was.is === 'reading' || is.is === 'reading' ? 'Reading…' : 'A text is gone.'}</p>;
  return (
    <section className="source" aria-label="What changed, word by word">
      <pre className="words-changed" tabIndex={0}>
        {pieces.map(({ sort, text }, n) => {
          const shown = <ForeignLines text={text} />;
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
          if (sort === 'added') return <ins key={n}>{shown}</ins>;
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
          if (sort === 'removed') return <del key={n}>{shown}</del>;
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
          return <span key={n}>{shown}</span>;
        })}
      </pre>
    </section>
  );
}

const spreadOut = (text: string): string => inLines(text) ?? text;

/** What the agent writes now. The frame keeps its place, and the text grows downwards in it. */
export function Streaming({ follower, row, name }: { follower: Follower; row: TurnRow; name: string }): ReactNode {
  const speech = useSpeech(follower, row.turn);
  const begun = row.attempts.at(-1)?.at ?? row.at;
  const now = useTick(true);
  const doing =
    speech === null
      ? 'works'
      : speech.tool === null
        ? `writes, ${count(speech.chars)} characters`
        : `uses ${speech.tool}`;
  return (
    <>
      <p className="streaming">
        <Glyph status="running" isQuiet />
        <Foreign text={`${name} ${doing}, ${stopwatch(now - Date.parse(begun))}`} />
      </p>
      {speech && speech.text !== '' ? <Source text={speech.text} label="what it writes now" isStreaming /> : null}
    </>
  );
}
