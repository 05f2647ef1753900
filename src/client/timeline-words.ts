import type { Schemas } from './api.ts';

type Event = Schemas['TimelineEvent'];
type Decision = Extract<Event, { event: 'decided' }>['decision'];

const DECISIONS: Readonly<Record<Decision, string>> = {
  parked: 'waiting',
  resumed: 'resumed',
  canceled: 'cancel accepted',
  canceling: 'cancel accepted',
  replaced: 'replaced',
  bumped: 'price raised',
  expired: 'expired',
  'noop-signed': 'empty transaction signed in its place',
  refused: 'refused by a node',
  'not-taken': 'not taken by a node',
  mined: 'in a block',
  reorganised: 'taken out of its block',
  'gap-filled': 'gap filled',
  dead: 'can no longer execute',
  fallback: 'fallback used',
  adopted: 'found on chain',
};

/** The name of an event of a timeline, for people. */
export function eventName(event: Event): string {
  if (event.event === 'decided') return DECISIONS[event.decision] ?? event.decision;
  if (event.event === 'ended') return event.status;
  if (event.event === 'signed') return `signed, version ${event.version}`;
  return event.event.replaceAll('_', ' ');
}
