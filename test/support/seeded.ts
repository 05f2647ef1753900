import { createHash } from 'node:crypto';

/** A number in [0, 1) that depends on the seed and the labels only, so that a run can be told by its seed. */
export function seededUnit(seed: number, ...labels: readonly (string | number)[]): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([seed, ...labels]))
    .digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}

/** A source of numbers in [0, 1), one after the other, the same for the same seed and name. */
export function seededRandom(seed: number, name: string): () => number {
  let drawn = 0;
  return () => {
    drawn += 1;
    return seededUnit(seed, name, drawn);
  };
}

/** `<seed>:<how many times as many runs>`, as `npm run soak -- properties` sets it. */
const PROPERTIES = 'ISOLAYER_PROPERTIES';

/** What properties are drawn with: the same in each `npm test`, so that a change is what makes it fail. */
export function propertySeed(): number {
  return Number(process.env[PROPERTIES]?.split(':')[0] ?? 1);
}

/** How many runs of a property there are where a test asks for so many. */
export function runsOf(count: number): number {
  return count * Number(process.env[PROPERTIES]?.split(':')[1] ?? 1);
}
