// The day in sums: what it cost, and whether the workspace is well.
import type { ReactNode } from 'react';
import { Glyph, Icon } from '../parts/glyphs.tsx';
import { Foreign } from '../parts/text.tsx';
import { linkTo } from '../router.ts';
import { costByModel, isNearLimit, today, useCostToday, useUsage } from '../shell/cost.ts';
import { useVerified } from '../shell/verified.ts';
import { clock, count, money, plural, tokens } from '../words.ts';
import { useLook } from '../workspace.ts';

const EMPTY_HOURS: readonly number[] = [];

export function CostToday(): ReactNode {
  const usage = useUsage();
  const cost = useCostToday();
  if (!usage.details || !cost) return null;
  const { rows, today: of } = usage.details;
  const hours = of?.hours ?? EMPTY_HOURS;
  const models = costByModel(rows.filter((row) => row.day === today()));
  const most = Math.max(...hours, 0);
  const now = new Date().getUTCHours();
  const { currency } = cost;
  return (
    <section className="side-part" aria-labelledby="cost-today">
      <div className="side-title">
        <h2 id="cost-today">Cost today</h2>
        <a {...linkTo('/history/costs')} className={isNearLimit(cost) ? 'quiet-link wait' : 'quiet-link'}>
          <b>{money(cost.amount, currency)}</b>
          {cost.max === null ? null : ` of ${money(cost.max, currency)}`}
        </a>
      </div>
      <div className="bars" role="img" aria-label={barsInWords(hours, currency)}>
        {hours.map((each, hour) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an hour is its place
          <span key={hour} className="bar-slot" title={`${twoDigits(hour)}:00 UTC: ${money(each, currency)}`}>
            <span
              className={hour === now ? 'day-bar day-bar-today' : 'day-bar'}
              style={{ height: most === 0 ? 0 : `${Math.max(each > 0 ? 4 : 0, (100 * each) / most)}%` }}
            />
          </span>
        ))}
      </div>
      <div className="bars-axis">
        <span>00</span>
        <span>12</span>
        <span>24 UTC</span>
      </div>
      {models.length > 0 ? (
        <table className="models">
          <caption className="unseen">Today by model</caption>
          <tbody>
            {models.slice(0, 5).map((each) => (
              <tr key={each.name}>
                <th scope="row">
                  <Foreign text={each.name} />
                </th>
                <td className="quiet">{tokens(each.tokens)} tokens</td>
                <td>{money(each.cost, currency)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
    </section>
  );
}

const twoDigits = (hour: number): string => String(hour).padStart(2, '0');

function barsInWords(hours: readonly number[], currency: string): string {
  const spent = hours.flatMap((cost, hour) => (cost > 0 ? [`${twoDigits(hour)}:00 ${money(cost, currency)}`] : []));
  return spent.length === 0 ? 'No cost today' : `By hour, UTC: ${spent.join(', ')}`;
}

type Agents = {
  readonly agents: readonly { readonly name: string; readonly installed: boolean; readonly signedIn: boolean }[];
  readonly models: readonly { readonly name: string; readonly keySet: boolean }[];
};
type Locks = { readonly locks: readonly { readonly run: string; readonly task: string }[] };
type Registry = { readonly agents: readonly { readonly quarantined?: boolean }[] };

export function Health(): ReactNode {
  const verified = useVerified();
  const agents = useLook<Agents>('agents.list');
  const locks = useLook<Locks>('lock.list', {}, ['task.', 'ledger.']);
  const registry = useLook<Registry>('registry.list', {}, ['registry.', 'quarantine.']);
  const signedIn = [
    ...(agents.details?.agents ?? []).filter((each) => each.signedIn).map(({ name }) => name),
    ...(agents.details?.models ?? []).filter((each) => each.keySet).map(({ name }) => name),
  ];
  const tasks = new Set(locks.details?.locks.map(({ run, task }) => `${run}/${task}`)).size;
  const pinned = registry.details?.agents ?? [];
  const blocked = pinned.filter(({ quarantined }) => quarantined).length;
  return (
    <section className="side-part" aria-labelledby="health">
      <h2 id="health">Workspace</h2>
      <ul className="health">
        {agents.details ? (
          <li>
            {signedIn.length > 0 ? <Glyph status="done" isQuiet /> : <Glyph status="open" isQuiet />}
            <span>
              {signedIn.length === 0
                ? 'No agent is signed in'
                : `${listed(signedIn)} ${signedIn.length === 1 ? 'is' : 'are'} signed in`}
            </span>
          </li>
        ) : null}
        <li>
          <Glyph status={verified ? (verified.isGood ? 'done' : 'failed') : 'open'} isQuiet />
          <a {...linkTo('/history/log')} className={verified && !verified.isGood ? 'bad' : undefined}>
            {verified
              ? verified.isGood
                ? 'History is as it was written'
                : 'History is not as it was written'
              : 'History is not verified yet'}
          </a>
          {verified ? <span className="quiet">{clock(verified.at)}</span> : null}
        </li>
        {pinned.length > 0 ? (
          <li>
            <Glyph status={blocked > 0 ? 'quarantine' : 'done'} isQuiet />
            <span>
              {blocked > 0
                ? `${count(blocked)} of ${plural(pinned.length, 'agent')} blocked until a person compares`
                : `${plural(pinned.length, 'agent')} pinned, none blocked`}
            </span>
          </li>
        ) : null}
        <li>
          <span className="health-icon">
            <Icon name="lock" size={14} />
          </span>
          <a {...linkTo('/ledger')}>
            {tasks === 0
              ? 'No path is locked'
              : `${plural(locks.details?.locks.length ?? 0, 'path')} locked by ${plural(tasks, 'task')}`}
          </a>
          <span className="quiet">now</span>
        </li>
      </ul>
    </section>
  );
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
