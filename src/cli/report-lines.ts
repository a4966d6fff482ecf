// What agents reported about the goal of a cast, for the person who asked: the summary first, then what has to be known
// beside it, whether it was asked for or not.
import type { CastView } from '../app/views/shown-cast.ts';
import { counted } from '../kernel/counted.ts';
import type { Consolidation, Consumption, Proposal, Said } from '../kernel/report/consolidation.ts';
import { oneLine, safe } from './safe-text.ts';

/** Nothing where no agent reported with a status. `isWhole` leaves nothing out of what was found. */
export function reportLines(
  { cast, report, differences = [], memorySuggestions = 0 }: CastView,
  baton: string,
  isWhole = false,
): string[] {
  if (!report) return [];
  const isOne = report.agents.length === 1;
  return [
    ...part('summary', isWhole ? report.findings.flatMap(linesIn) : summaryLines(report, `${baton} show ${cast}`)),
    ...part(
      'standing',
      report.reports
        .filter(({ status }) => status !== 'COMPLETE')
        .map(({ agent, item, status }) => `${agent}${item === null ? '' : ` on ${item}`}: ${status}`),
    ),
    ...part('verified', told(report.verification, isOne)),
    ...part('open gaps', told(report.openGaps, isOne)),
    ...part('conflicts', told(report.conflicts, isOne)),
    ...part('impacts', told(report.crossLayerImpacts, isOne)),
    ...part('rollbacks', told(report.rollbacks, isOne)),
    ...part('proposed', report.proposals.filter(({ reported, allowed }) => !reported || !allowed).map(proposalLine)),
    ...part(
      'window',
      report.contextConsumption.map((each) => windowLine(each, isOne)),
    ),
    ...part(
      'evidence',
      differences.flatMap(({ turn, agent, notRun, unnamed, unapproved = [] }) => [
        ...unapproved.map((command) => `! ${agent}, turn ${turn}, ran without approval: ${oneLine(command, 200)}`),
        ...notRun.map(
          (command) => `! ${agent}, turn ${turn}, names a command that was not run: ${oneLine(command, 200)}`,
        ),
        ...unnamed.map(
          (command) => `! ${agent}, turn ${turn}, ran a command it does not name: ${oneLine(command, 200)}`,
        ),
      ]),
    ),
    ...(memorySuggestions === 0
      ? []
      : part('memory', [`${counted(memorySuggestions, 'suggestion')} to remember; decide with: ${baton} memory list`])),
  ];
}

/** The commands that agents asked to run and that did not run. */
export function notRunLines({ notRun = [] }: CastView): string[] {
  return part(
    'not run',
    notRun.map(({ approval, command, outcome }) => `! ${outcome}: ${oneLine(command, 200)} (${approval})`),
  );
}

/** The rest of what was found is there to be asked for. */
function summaryLines({ summary, leftOut }: Consolidation, rest: string): string[] {
  const lines = linesIn(summary);
  return leftOut === 0 ? lines : lines.with(-1, `${lines.at(-1)}: ${rest}`);
}

/** An agent's own words stay as they are, lines included. */
function linesIn(words: string): string[] {
  return words === '' ? [] : safe(words).split('\n');
}

function told(list: readonly (Said & { readonly item?: string | null })[], isOne: boolean): string[] {
  return list.map(({ agent, item = null, text }) => oneLine(withSpeaker(text, agent, item, isOne), 400));
}

/** One agent alone need not be named, and its items still have to be told apart. */
function withSpeaker(text: string, agent: string, item: string | null, isOne: boolean): string {
  const who = [...(isOne ? [] : [agent]), ...(item === null ? [] : [item])].join(' on ');
  return who === '' ? text : `${who}: ${text}`;
}

function proposalLine({ agent, by, socket, noWay, refusal }: Proposal): string {
  const who = `${oneLine(agent, 80)} (by ${by})`;
  if (refusal !== null) return `${who}: the boundaries refuse it: ${oneLine(refusal, 200)}`;
  return noWay === null ? `${who}: a way leads there, to ${socket}` : `${who}: ${noWay}`;
}

function windowLine({ agent, item, tokens_used: tokens, pct_window: percent }: Consumption, isOne: boolean): string {
  const said = [
    ...(typeof tokens === 'number' ? [counted(tokens, 'token')] : []),
    ...(typeof percent === 'number' ? [`${percent} % of the window`] : []),
  ].join(', ');
  return withSpeaker(said, agent, item, isOne);
}

const WIDTH = 9;

/** The first line beside its heading, the others below it. */
function part(name: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => `${(index === 0 ? name : '').padEnd(WIDTH)} ${line}`.trimEnd());
}
