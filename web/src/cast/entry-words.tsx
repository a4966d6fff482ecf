// What an entry of a cast says, in one sentence.
import type { ReactNode } from 'react';
import type { CastPage } from '../../../src/app/views/cast-page.ts';
import type { LogLine } from '../../../src/app/views/cast-timeline.ts';
import { Foreign } from '../parts/text.tsx';
import { nameOf } from './shown.ts';

/** Sockets speak as actors; what is not in this table goes by the name of its kind. */
const SENTENCES: Readonly<Record<string, string>> = {
  'attempt.answered': 'answered, and is checked',
  'attempt.failed': 'failed',
  'attempt.lost': 'was cut off',
  'attempt.refused': 'was refused',
  'attempt.started': 'got its brief',
  'cast.aborted': 'The cast was stopped',
  'cast.completed': 'The cast is completed',
  'cast.failed': 'The cast failed',
  'cast.paused': 'The cast was paused',
  'cast.recast': 'The cast was run on',
  'cast.recovered': 'The cast was taken over',
  'cast.resumed': 'The cast goes on',
  'cast.started': 'The cast was started',
  'cast.waiting': 'The cast waits for a person',
  'cursor.advanced': 'finished the item',
  'edge.spent': 'may not send it back again',
  'edge.taken': 'handed it on',
  'exit.taken': 'left the loop',
  'item.dropped': 'An item was left out',
  'item.parked': 'parked the item',
  'item.retried': 'An item is tried again',
  'items.planned': 'The items are on the ledger',
  'lane.ended': 'left its lane',
  'lanes.opened': 'Lanes were opened',
  'report.noted': 'reported',
  'rework.cleared': 'The notes for rework are settled',
  'rework.noted': 'What is missing was noted',
  'task.claimed': 'The task was claimed',
  'task.moved': 'The task was moved',
  'turn.accepted': 'was accepted',
  'turn.answered': 'was answered',
  'turn.asked': 'is yours to do',
  'turn.blocked': 'is blocked',
  'turn.decided': 'was decided by a person',
  'turn.held': 'has to wait',
  'turn.reported': 'reported',
  'turn.started': 'has its turn',
  'turn.unknown': 'has an unknown outcome',
  'event.emitted': 'emitted an event',
  'wait.begun': 'waits',
  'wait.ended': 'waits no longer',
  'wait.seen': 'goes on waiting',
};

export function sentenceOf({ kind, socket, number, by, code, isTurning }: LogLine, page: CastPage): ReactNode {
  const known = kind.startsWith('cast.') ? null : socket;
  const words =
    kind === 'exit.taken' && known && !isInLoop(page, known)
      ? 'was the last step'
      : kind === 'edge.taken' && isTurning
        ? 'sent it back'
        : (SENTENCES[kind] ?? kind.replaceAll(/[._]/g, ' '));
  const isPersons =
    kind.startsWith('cast.') || kind.startsWith('approval.') || kind === 'turn.answered' || kind === 'turn.decided';
  return (
    <>
      {known ? <Foreign text={nameOf(page, known)} /> : null}
      {known === null || number === null ? '' : `, item ${number},`} {words}
      {code ? ` (${code})` : ''}
      {isPersons && by !== 'engine' ? `, by ${by.replace(/^user:/, '')}` : ''}
    </>
  );
}

const isInLoop = ({ graph }: CastPage, socket: string): boolean =>
  graph.sockets.find(({ id }) => id === socket)?.loop != null;
