import type { Fault } from '../fake-wire.ts';
import { fc } from '../properties.ts';

/** What can happen in every world. */
export type CommonEvent =
  | { kind: 'lies'; count: number }
  | { kind: 'faults'; faults: Fault[]; of: FaultyCall }
  | { kind: 'signer fails'; every: number }
  | { kind: 'cancel'; which: number }
  | { kind: 'replace'; which: number }
  | { kind: 'expire'; which: number }
  | { kind: 'commits unanswered'; every: number }
  | { kind: 'clock jumps'; byMs: number }
  | { kind: 'second instance' }
  | { kind: 'prune' }
  | { kind: 'crash'; after: number };

/** The kind of the engine's calls that get the faults. */
export type FaultyCall = 'any' | 'broadcast' | 'prepare' | 'observe';

/** Clock changes: forward, back, and correct again. */
const JUMPS_MS = [9 * 3_600_000, -3_600_000, 0, 0];

/** A short validity, and one that does not end within a test. */
const WORTH_MS = [200, 3_600_000];

/** How long a request is worth sending; null: as long as the chain takes it. */
export const worthMs = fc.constantFrom(null, null, null, ...WORTH_MS);

/** Selects one of the existing items. */
export const which = fc.nat(20);

/** The events of every world, each with its weight. */
export const commonEvents = [
  weighed<CommonEvent, 'lies'>(2, 'lies', { count: fc.integer({ min: 1, max: 6 }) }),
  weighed<CommonEvent, 'faults'>(3, 'faults', {
    faults: fc.array(fc.constantFrom<Fault>('request-lost', 'answer-lost', 'lie', undefined), { maxLength: 12 }),
    of: fc.constantFrom<FaultyCall>('any', 'broadcast', 'prepare', 'observe'),
  }),
  weighed<CommonEvent, 'signer fails'>(1, 'signer fails', { every: fc.integer({ min: 2, max: 4 }) }),
  weighed<CommonEvent, 'cancel'>(3, 'cancel', { which }),
  weighed<CommonEvent, 'replace'>(3, 'replace', { which }),
  weighed<CommonEvent, 'expire'>(1, 'expire', { which }),
  weighed<CommonEvent, 'commits unanswered'>(2, 'commits unanswered', { every: fc.integer({ min: 2, max: 5 }) }),
  weighed<CommonEvent, 'clock jumps'>(1, 'clock jumps', { byMs: fc.constantFrom(...JUMPS_MS) }),
  weighed<CommonEvent, 'second instance'>(1, 'second instance', {}),
  weighed<CommonEvent, 'prune'>(1, 'prune', {}),
  weighed<CommonEvent, 'crash'>(4, 'crash', { after: fc.integer({ min: 0, max: 60 }) }),
];

type Kinds = { kind: string };
type Of<Event extends Kinds, Kind extends Event['kind']> = Extract<Event, { kind: Kind }>;
type Rest<Event extends Kinds, Kind extends Event['kind']> = {
  [Name in Exclude<keyof Of<Event, Kind>, 'kind'>]: fc.Arbitrary<Of<Event, Kind>[Name]>;
};

/** An event of a kind, with its weight among others. */
export function weighed<Event extends Kinds, Kind extends Event['kind']>(
  weight: number,
  kind: Kind,
  rest: Rest<Event, Kind>,
): { weight: number; arbitrary: fc.Arbitrary<Of<Event, Kind>> } {
  const arbitrary = fc.record({ kind: fc.constant(kind), ...rest }) as unknown as fc.Arbitrary<Of<Event, Kind>>;
  return { weight, arbitrary };
}
