// Above a cast: its name, what it used, what can be done about it, and, where it does not run, what it has to say.
import { type ReactNode, useEffect, useState } from 'react';
import type { CastPage, PageAct } from '../../../src/app/views/cast-page.ts';
import { look } from '../api.ts';
import { Button, CopyCommand } from '../parts/button.tsx';
import { Glyph } from '../parts/glyphs.tsx';
import { Header } from '../parts/pane.tsx';
import { Foreign } from '../parts/text.tsx';
import { sentence, VerdictBlock } from '../parts/verdict.tsx';
import { go, turnPath, withQuery } from '../router.ts';
import { clock, duration, inLine, money, tokens, when } from '../words.ts';
import { useIsOnline } from '../workspace.ts';
import { ActButton, MoreActs } from './acts.tsx';
import { named, ranFor } from './shown.ts';
import { useTick } from './tick.ts';

export function CastHeader({
  page,
  now,
  acts,
  isPast,
}: {
  page: CastPage;
  now: CastPage;
  acts: readonly PageAct[];
  isPast: boolean;
}): ReactNode {
  const isOnline = useIsOnline();
  const tick = useTick(!isPast && now.status === 'running' && isOnline);
  const elapsed =
    page.status === 'running' && !isPast ? page.elapsedMs + Math.max(0, tick - Date.parse(page.asOf)) : page.elapsedMs;
  const then = isPast ? ' then' : '';
  const { maxCost } = page.budget;
  const cost = `${money(page.usage.cost)}${page.usage.estimated ? ' estimated' : ''}${maxCost === null ? '' : ` of ${money(maxCost)}`}${then}`;
  const used = page.usage.input + page.usage.output;
  const bound = page.budget.maxTokens === null ? '' : ` of ${tokens(page.budget.maxTokens)}`;
  const below = [
    `started ${when(page.startedAt)} by ${inLine(page.startedBy.replace(/^user:/, ''))}`,
    `${ranFor(elapsed, duration)}${then}`,
    page.usage.cost === 0 && maxCost === null ? (used === 0 ? null : `${tokens(used)}${bound} tokens${then}`) : cost,
  ];
  // What a failed cast can do stands below its header, with the reason.
  const main = HEADER.flatMap((id) => acts.find((act) => act.id === id) ?? []).filter(
    ({ id }) => id !== 'continue' || now.status !== 'failed',
  );
  const more = acts.filter(({ id }) => id === 'budget' || id === 'abort' || id === 'revive');
  const title = firstLine(page.request);
  return (
    <Header
      title={
        <span title={inLine(page.request)}>
          <Foreign text={title} />
        </span>
      }
      below={
        <>
          <Foreign text={page.loadout} />, {below.filter(Boolean).join(', ')}
        </>
      }
    >
      {now.waits.length > 0 ? <WaitsButton page={now} isPast={isPast} /> : null}
      {main.map((act) => (
        <ActButton key={act.id} act={act} isBare kind={act.id === 'continue' ? 'primary' : 'plain'} />
      ))}
      {isPast ? null : <MoreActs acts={more} command={`baton watch ${page.cast}`} />}
    </Header>
  );
}

const HEADER: readonly string[] = ['say', 'continue', 'pause'];

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}

export function openWait({ cast, waits: [first] }: CastPage): void {
  if (first?.turn != null) go(turnPath(cast, first.turn));
  else go(withQuery({ face: 'items' }));
}

function WaitsButton({ page, isPast }: { page: CastPage; isPast: boolean }): ReactNode {
  return (
    <Button kind="attention" keys="w" onPress={() => openWait(page)}>
      <span className="with-glyph">
        <Glyph status="waits" isQuiet />
        {page.waits.length} {page.waits.length === 1 ? 'waits' : 'wait'} for you{isPast ? ', live' : ''}
      </span>
    </Button>
  );
}

/** What a cast that does not run has to say, right under its header. */
export function State({
  page,
  acts,
  cast,
  isPhone = false,
}: {
  page: CastPage;
  acts: readonly PageAct[];
  cast: string;
  isPhone?: boolean;
}): ReactNode {
  const undriven = useUndriven(page);
  const { status, code } = page;
  if (status === 'failed')
    return (
      <div className="cast-state cast-state-acts">
        <VerdictBlock
          kind="refused"
          title={<Foreign text={sentence(`Failed: ${named(page, page.reason)}`)} />}
          code={code}
        >
          What was accepted stays.
        </VerdictBlock>
        {isPhone ? null : <StateActs acts={acts.filter(({ id }) => canGoOn(id, code))} />}
      </div>
    );
  if (status === 'aborted')
    return (
      <div className="cast-state">
        <VerdictBlock kind="accepted" title={`Stopped at ${clock(page.changedAt)}.`}>
          {page.reason === '' ? (
            'It can be run on from where it was.'
          ) : (
            <Foreign text={`“${page.reason}”. It can be run on from where it was.`} />
          )}
        </VerdictBlock>
      </div>
    );
  if (status === 'paused')
    return (
      <div className="cast-state">
        <VerdictBlock kind="accepted" title={`Paused at ${clock(page.changedAt)}.`}>
          Its agents were stopped; what was accepted is kept.
        </VerdictBlock>
      </div>
    );
  if (undriven)
    return (
      <div className="cast-state">
        <VerdictBlock kind="waits" title={`This cast has no driver since ${clock(page.time)}.`}>
          Its process is gone. Nothing of it is lost. <CopyCommand command={`baton resume ${cast}`} />
        </VerdictBlock>
      </div>
    );
  if (page.graph.loops.some(({ isEmpty }) => isEmpty)) {
    const loop = page.graph.loops.find(({ isEmpty }) => isEmpty);
    return (
      <div className="cast-state">
        <VerdictBlock
          kind="accepted"
          title={<Foreign text={`${loop?.over ?? 'The generator'} returned no items, so the loop was skipped.`} />}
        />
      </div>
    );
  }
  return null;
}

/** More budget helps only where there was too little of it. */
function canGoOn(id: string, code: string | null): boolean {
  return id === 'continue' || id === 'revive' || (id === 'budget' && code === 'BUDGET_EXHAUSTED');
}

function StateActs({ acts }: { acts: readonly PageAct[] }): ReactNode {
  return (
    <div className="waits-acts">
      {acts.map((act, n) => (
        <ActButton key={act.id} act={act} kind={n === 0 ? 'primary' : 'plain'} />
      ))}
    </div>
  );
}

const QUIET_MS = 20_000;

/** Whether the cast should run and no process drives it: asked where nothing was heard of it for a while. */
function useUndriven({ cast, status, time }: CastPage): boolean {
  const [isUndriven, setUndriven] = useState(false);
  const isOnline = useIsOnline();
  const isRunning = status === 'running';
  useEffect(() => {
    setUndriven(false);
    if (!isRunning || !isOnline) return;
    let isCurrent = true;
    const ask = async (): Promise<void> => {
      const answer = await look<{ readonly driver: unknown; readonly status: string }>('cast.why', { cast });
      if (isCurrent && answer.allow) setUndriven(answer.details.status === 'running' && answer.details.driver === null);
    };
    // An old entry says at once that something is wrong; a new one is waited for.
    const first = setTimeout(() => void ask(), Date.now() - Date.parse(time) > QUIET_MS ? 1_000 : QUIET_MS);
    const again = setInterval(() => void ask(), QUIET_MS);
    return () => {
      isCurrent = false;
      clearTimeout(first);
      clearInterval(again);
    };
  }, [cast, isRunning, time, isOnline]);
  return isUndriven && isRunning;
}
