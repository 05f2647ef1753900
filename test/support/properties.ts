/** fast-check as every property here uses it, in `npm test` and in `npm run soak -- properties`. */
import fc from 'fast-check';

/** `<seed>:<times>`, as `npm run soak -- properties` sets it. */
const [seed = '1', times = '1'] = process.env['ISOLAYER_PROPERTIES']?.split(':') ?? [];

/** How many runs a property has that asks for no number. */
const RUNS = 100;

fc.configureGlobal({ seed: propertySeed(), numRuns: runsOf(RUNS) });

export { fc };

/** What properties are drawn with: the same in each `npm test`, so that a change is what makes it fail. */
export function propertySeed(): number {
  return Number(seed);
}

/** How many runs of a property there are where a test asks for so many. */
export function runsOf(count: number): number {
  return count * Number(times);
}
