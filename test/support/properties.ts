/** Runs fast-check for all properties, in `npm test` and in `npm run soak -- properties`. */
import fc from 'fast-check';

/** `<seed>:<times>`, as `npm run soak -- properties` sets it. */
const [seed = '1', times = '1'] = process.env['ISOLAYER_PROPERTIES']?.split(':') ?? [];

/** The number of runs of a property that gives none. */
const RUNS = 100;

fc.configureGlobal({ seed: propertySeed(), numRuns: runsOf(RUNS) });

export { fc };

/** The seed of properties. It is the same in each `npm test`, so only a change of the code can make one fail. */
export function propertySeed(): number {
  return Number(seed);
}

/** The number of runs of a property for which a test asks for `count`. */
export function runsOf(count: number): number {
  return count * Number(times);
}
