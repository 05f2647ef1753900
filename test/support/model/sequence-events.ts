import type { Fault } from '../fake-chain.ts';
import { fc } from '../properties.ts';

/** What can happen in a world whose accounts count their transactions. */
export type SequenceEvent =
  | { kind: 'accept'; count: number; reverts: boolean; worthMs: number | null }
  | { kind: 'mine'; limit: number }
  | { kind: 'lies'; count: number }
  | { kind: 'faults'; faults: Fault[]; of: FaultyCall }
  | { kind: 'reorganise'; depth: number }
  | { kind: 'forget pool' }
  | { kind: 'foreign use' }
  | { kind: 'signer fails'; every: number }
  | { kind: 'cancel'; which: number }
  | { kind: 'replace'; which: number }
  | { kind: 'expire'; which: number }
  | { kind: 'network asks for'; floor: number }
  | { kind: 'no node takes'; which: number }
  | { kind: 'patience'; ms: number }
  | { kind: 'commits unanswered'; every: number }
  | { kind: 'clock jumps'; byMs: number }
  | { kind: 'second instance' }
  | { kind: 'crash'; after: number };

/** Which of an engine's questions get the faults. */
export type FaultyCall = 'any' | 'broadcast' | 'prepare' | 'observe';

/** A time that is over soon, and one that is never over in a test. */
const WORTH_MS = [200, 3_600_000];

/** Forth, back, and right again. */
const JUMPS_MS = [9 * 3_600_000, -3_600_000, 0, 0];

const which = fc.nat(20);

export const sequenceEvents: fc.Arbitrary<SequenceEvent> = fc.oneof(
  weighed(4, 'accept', {
    count: fc.integer({ min: 1, max: 5 }),
    reverts: fc.boolean(),
    worthMs: fc.constantFrom(null, null, null, ...WORTH_MS),
  }),
  weighed(4, 'mine', { limit: fc.integer({ min: 1, max: 4 }) }),
  weighed(2, 'lies', { count: fc.integer({ min: 1, max: 6 }) }),
  weighed(3, 'faults', {
    faults: fc.array(fc.constantFrom<Fault>('request-lost', 'answer-lost', 'lie', undefined), { maxLength: 12 }),
    of: fc.constantFrom<FaultyCall>('any', 'broadcast', 'prepare', 'observe'),
  }),
  weighed(2, 'reorganise', { depth: fc.integer({ min: 1, max: 2 }) }),
  weighed(1, 'forget pool', {}),
  weighed(1, 'foreign use', {}),
  weighed(1, 'signer fails', { every: fc.integer({ min: 2, max: 4 }) }),
  weighed(3, 'cancel', { which }),
  weighed(3, 'replace', { which }),
  weighed(1, 'expire', { which }),
  weighed(1, 'network asks for', { floor: fc.integer({ min: 1, max: 9 }) }),
  weighed(1, 'no node takes', { which }),
  weighed(1, 'patience', { ms: fc.integer({ min: 1, max: 50 }) }),
  weighed(2, 'commits unanswered', { every: fc.integer({ min: 2, max: 5 }) }),
  weighed(1, 'clock jumps', { byMs: fc.constantFrom(...JUMPS_MS) }),
  weighed(1, 'second instance', {}),
  weighed(4, 'crash', { after: fc.integer({ min: 0, max: 60 }) }),
);

type Of<Kind extends SequenceEvent['kind']> = Extract<SequenceEvent, { kind: Kind }>;
type Rest<Kind extends SequenceEvent['kind']> = {
  [Name in Exclude<keyof Of<Kind>, 'kind'>]: fc.Arbitrary<Of<Kind>[Name]>;
};

function weighed<Kind extends SequenceEvent['kind']>(weight: number, kind: Kind, rest: Rest<Kind>) {
  return { weight, arbitrary: fc.record({ kind: fc.constant(kind), ...rest }) as unknown as fc.Arbitrary<Of<Kind>> };
}
