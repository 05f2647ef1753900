import { createHash } from 'node:crypto';

/** A number in [0, 1) that depends only on the seed and the labels, so that the seed reproduces a run. */
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
