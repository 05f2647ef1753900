import { fc } from '../properties.ts';
import { type CommonEvent, commonEvents, weighed, which, worthMs } from './events.ts';

/** What can happen in a world whose accounts count their transactions. */
export type SequenceEvent = CommonEvent | Own;

type Own =
  | { kind: 'accept'; count: number; relayer: number; reverts: boolean; worthMs: number | null; isKeyed: boolean }
  | { kind: 'mine'; limit: number }
  | { kind: 'reorganise'; depth: number }
  | { kind: 'forget pool' }
  | { kind: 'foreign use'; relayer: number }
  | { kind: 'network asks for'; floor: number }
  | { kind: 'no node takes'; which: number }
  | { kind: 'patience'; ms: number };

export const sequenceEvents: fc.Arbitrary<SequenceEvent> = fc.oneof(
  ...commonEvents,
  weighed<Own, 'accept'>(4, 'accept', {
    count: fc.integer({ min: 1, max: 5 }),
    relayer: which,
    reverts: fc.boolean(),
    worthMs,
    isKeyed: fc.boolean(),
  }),
  weighed<Own, 'mine'>(4, 'mine', { limit: fc.integer({ min: 1, max: 4 }) }),
  weighed<Own, 'reorganise'>(2, 'reorganise', { depth: fc.integer({ min: 1, max: 2 }) }),
  weighed<Own, 'forget pool'>(1, 'forget pool', {}),
  weighed<Own, 'foreign use'>(1, 'foreign use', { relayer: which }),
  weighed<Own, 'network asks for'>(1, 'network asks for', { floor: fc.integer({ min: 1, max: 9 }) }),
  weighed<Own, 'no node takes'>(1, 'no node takes', { which }),
  weighed<Own, 'patience'>(1, 'patience', { ms: fc.integer({ min: 1, max: 50 }) }),
);
