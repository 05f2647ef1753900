import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from '../../check/project.ts';

export interface PropertiesOptions {
  seed: number;
  /** How many times as many runs as in `npm test`. */
  times: number;
  /** Runs only test files whose path contains this. */
  only: string;
  say(text: string): void;
}

const root = join(import.meta.dirname, '..', '..', '..');
/** How long one file may take with the number of runs of `npm test`. */
const SECONDS_PER_FILE = 60;
/** Matches the imports of test files that draw random cases. */
const DRAWING = /support\/(?:properties|model\/histories)\.ts'/;

/**
 * Runs the test files that draw random cases, with the given seed and more runs.
 * @returns whether all of them passed
 */
export async function soakProperties({ seed, times, only, say }: PropertiesOptions): Promise<boolean> {
  const files = listFiles(root, ['test'], '**/*.test.ts')
    .filter((file) => file.includes(only))
    .filter((file) => DRAWING.test(readFileSync(join(root, file), 'utf8')));
  if (files.length === 0) throw new Error(`no test file with "${only}" in its path draws anything`);
  say(`seed ${seed}, ${times} times as many runs, ${files.length} files`);
  const runner = join(root, 'test', 'run', 'main.ts');
  const child = spawn(process.execPath, [runner, `--timeout=${SECONDS_PER_FILE * times}`, '--times', ...files], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ISOLAYER_PROPERTIES: `${seed}:${times}` },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) say(`again: npm run soak -- properties --seed ${seed} --times ${times}`);
  return code === 0;
}
