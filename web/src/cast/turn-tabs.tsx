// The tabs of a turn beside its output: what its agent was told, what it handed on, what it changed, on what evidence, and what that
// used.
import type { ReactNode } from 'react';
import type { CastPage } from '../../../src/app/views/cast-page.ts';
import type { TurnRow } from '../../../src/app/views/turn-rows.ts';
import type { Json, Text } from '../api.ts';
import { Diffs } from '../parts/diff.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { Facts } from '../parts/pane.tsx';
import { Source } from '../parts/source.tsx';
import { Foreign, ForeignLines, Name } from '../parts/text.tsx';
import { VerdictBlock } from '../parts/verdict.tsx';
import { count, duration, exactly, money, tokens } from '../words.ts';
import { nameOf, ranFor } from './shown.ts';
import { type AttemptStory, beginning, isReference, type TurnStory } from './turn-story.ts';

type TabProps = {
  readonly page: CastPage;
  readonly row: TurnRow;
  readonly story: TurnStory;
  readonly shown: AttemptStory | null;
};

export function Brief({ story, attempt }: { story: TurnStory; attempt: AttemptStory }): ReactNode {
  return (
    <>
      {story.rework.map(({ from, reason }) => (
        <VerdictBlock key={reason} kind="unsatisfied" title={<Foreign text={`${from} sent it back`} />}>
          “<ForeignLines text={reason} />”
        </VerdictBlock>
      ))}
      <Source text={attempt.brief} label="the brief" title="As it was sent, frozen" />
    </>
  );
}

export function HandoffTab({ story, page }: TabProps): ReactNode {
  const { handoff, ways, dataChanges } = story;
  if (!handoff) return <p className="pane-note">Nothing was handed on: no output of this turn was accepted.</p>;
  return (
    <>
      <Facts
        rows={[
          [
            'Goes to',
            ways.length === 0
              ? 'none yet'
              : ways.map(({ to, when, seq }) => (
                  <span key={seq}>
                    {to === 'end' ? 'the end' : <Foreign text={nameOf(page, to)} />} ({when.replace('_', ' ')}){' '}
                  </span>
                )),
          ],
          ['Satisfied', handoff.satisfied === null ? 'not said' : handoff.satisfied ? 'yes' : 'no'],
          handoff.note !== null && ['Note', <Foreign key="note" text={handoff.note} />],
        ]}
      />
      <Source
        text={
          typeof handoff.payload === 'string' || isReference(handoff.payload)
            ? (handoff.payload as unknown as Text)
            : written(handoff.payload)
        }
        label="the handoff"
        title="What was handed on"
      />
      {dataChanges.length > 0 ? (
        <section className="asked">
          <h3>It changed the data of the cast</h3>
          <dl>
            {dataChanges.map(({ name, value }) => (
              <div key={name}>
                <dt>
                  <code>{name}</code>
                </dt>
                <dd className="asked-wide">
                  <Name text={value === undefined ? 'taken out' : written(value, 0)} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ) : null}
    </>
  );
}

/** JSON with the long texts in it by how they begin. */
function written(value: Json, indent = 2): string {
  return (
    JSON.stringify(
      value,
      (_name, each) => (isReference(each) ? `${each.preview}… (${count(each.bytes)} bytes)` : each),
      indent,
    ) ?? ''
  );
}

export function Changes({ story: { touched, diff } }: { story: TurnStory }): ReactNode {
  if (touched.length === 0) return <p className="pane-note">This turn changed no file.</p>;
  const outside = new Set(touched.flatMap(({ path, isOutside }) => (isOutside ? [path] : [])));
  return (
    <>
      <ul className="touched">
        {touched.map(({ path, isGone, isOutside }) => (
          <li key={path} className={isOutside ? 'touched-outside' : ''}>
            <code>
              <ForeignLines text={path} />
            </code>
            <span>{isOutside ? 'outside its paths' : isGone ? 'removed' : 'changed'}</span>
          </li>
        ))}
      </ul>
      {diff === null ? (
        <p className="pane-note">No diff was kept: it is kept where the cast works in a worktree.</p>
      ) : (
        <Diffs text={diff} outside={outside} />
      )}
    </>
  );
}

export function evidenceCount({ record, reports }: TurnStory): number {
  return (record?.checks.length ?? 0) + reports.length + (record?.deposits.length ?? 0);
}

export function Evidence({ story }: { story: TurnStory }): ReactNode {
  const { record, reports, differences } = story;
  if (evidenceCount(story) === 0) return <p className="pane-note">No checker ran, and no evidence was reported.</p>;
  return (
    <>
      {record && record.checks.length > 0 ? (
        <section className="checks">
          <h3>What the checkers found</h3>
          <ul>
            {record.checks.map(({ name, ok, found, output }) => (
              <li key={name}>
                <Glyph status={ok ? 'done' : 'refused'} says={ok ? 'passed' : 'failed'} />
                <code>{name}</code> <Foreign text={found} />
                {output ? <Source text={output} label={`the end of ${name}`} /> : null}
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {reports.map(({ attempt, note, warnings, ran, unapproved }) => (
        <section key={attempt} className="checks">
          <h3>
            Report of attempt {attempt}: {note.status.toLowerCase()}
          </h3>
          <Facts
            rows={[
              note.keyOutputs.length > 0 && ['Says it did', <Lines key="outputs" of={note.keyOutputs} />],
              note.confirmed.length > 0 && ['Confirmed', <Lines key="confirmed" of={note.confirmed} />],
              note.openGaps.length > 0 && ['Open', <Lines key="gaps" of={note.openGaps} />],
              note.verification !== null && ['Verified by', <Foreign key="verified" text={note.verification} />],
              ran !== null && ['Really ran', ran.length === 0 ? 'no command' : <Lines key="ran" of={ran} isCode />],
              unapproved.length > 0 && ['Not approved', <Lines key="unapproved" of={unapproved} isCode />],
              warnings.length > 0 && ['Not taken', <Lines key="warnings" of={warnings} />],
            ]}
          />
        </section>
      ))}
      {differences.map(({ notRun, unnamed }) => (
        <section key="differences" className="checks">
          <Facts
            rows={[
              notRun.length > 0 && [
                'Named but not run',
                <div key="not" className="bad">
                  <Lines of={notRun} isCode />
                </div>,
              ],
              unnamed.length > 0 && ['Run but not named', <Lines key="unnamed" of={unnamed} isCode />],
            ]}
          />
        </section>
      ))}
      {record?.deposits.map(({ name, agent }) => (
        <p key={name} className="pane-note">
          <code>{name}</code>, put down by <Foreign text={agent} />
        </p>
      ))}
    </>
  );
}

function Lines({ of, isCode = false }: { of: readonly string[]; isCode?: boolean }): ReactNode {
  return (
    <ul className="plain-lines">
      {of.map((line) => (
        <li key={line}>
          {isCode ? (
            <code>
              <ForeignLines text={line} />
            </code>
          ) : (
            <Foreign text={line} />
          )}
        </li>
      ))}
    </ul>
  );
}

export function UsageTab({ row, shown, page }: TabProps): ReactNode {
  const own = row.attempts.find(({ attempt }) => attempt === shown?.attempt);
  const fact = shown?.started.fact;
  const attestation = fact?.attestation as
    | {
        readonly promptHash?: string;
        readonly agent?: string;
        readonly pinned?: boolean;
        readonly drift?: readonly string[];
      }
    | undefined;
  const total = row.attempts.reduce(
    (sum, { usage }) => ({
      input: sum.input + (usage?.input ?? 0),
      output: sum.output + (usage?.output ?? 0),
      cost: sum.cost + (usage?.cost ?? 0),
    }),
    { input: 0, output: 0, cost: 0 },
  );
  const agent = shown?.ended?.fact.agent as
    | { readonly warnings?: readonly unknown[]; readonly denials?: readonly unknown[] }
    | undefined;
  return (
    <Facts
      rows={[
        ['Runner', own?.runner ?? page.graph.sockets.find(({ id }) => id === row.socket)?.runner ?? 'not known'],
        ['Model', own?.model ?? 'its default'],
        own !== undefined && ['Started', exactly(own.at)],
        own?.endAt != null && ['Took', ranFor(Date.parse(own.endAt) - Date.parse(own.at), duration)],
        ['Tokens in', own?.usage ? count(own.usage.input) : 'not known yet'],
        ['Tokens out', own?.usage ? count(own.usage.output) : 'not known yet'],
        [
          'Cost',
          own?.usage
            ? `${money(own.usage.cost)}${own.usage.estimated ? ', worked out from prices' : ''}`
            : 'not known yet',
        ],
        row.attempts.length > 1 && [
          'All attempts',
          `${tokens(total.input)} in, ${tokens(total.output)} out, ${money(total.cost)}`,
        ],
        attestation?.promptHash !== undefined && [
          'Prompt',
          <span key="hash">
            <code title={attestation.promptHash}>{attestation.promptHash.replace('sha256:', '').slice(0, 8)}</code>{' '}
            {(attestation.drift ?? []).length === 0 ? 'matches the lock' : 'differs from the lock'}
          </span>,
        ],
        attestation?.agent !== undefined && ['Agent', attestation.agent],
        attestation !== undefined && ['Model is', attestation.pinned ? 'one exact release' : 'an alias'],
        attestation === undefined && ['Prompt', 'not pinned: the registry is not used in this cast'],
        (agent?.denials ?? []).length > 0 && [
          'Was refused',
          <Lines key="denials" of={(agent?.denials ?? []).map(beginning)} isCode />,
        ],
        (agent?.warnings ?? []).length > 0 && [
          'Noticed',
          <Lines key="warnings" of={(agent?.warnings ?? []).map(beginning)} />,
        ],
      ]}
    />
  );
}
