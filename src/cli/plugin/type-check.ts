import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** The compilers to try. The one of the plugins folder comes first, then the one of the service's development. */
const COMPILERS = ['typescript/bin/tsc', 'typescript-native/bin/tsc'];

/** The start of a problem's first line, which names its file. The problem's further lines are indented. */
const PLACE = /^(\S[^(]*)\(\d+,\d+\): /;

/** Returns the compiler's problems in a folder, one line each. `note` says why the compiler did not run. */
export async function typeProblems(
  folder: string,
  wanted: (file: string) => boolean = () => true,
): Promise<{ problems: string[]; note?: string }> {
  const config = join(folder, 'tsconfig.json');
  if (!existsSync(config)) return { problems: [], note: 'types: not checked; npx isolayer plugin types installs them' };
  const compiler = compilerFor(config);
  if (compiler === undefined)
    return { problems: [], note: 'types: not checked; npm install -D typescript brings the compiler' };
  const child = spawn(process.execPath, [compiler, '-p', config, '--noEmit', '--pretty', 'false'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = await text(child.stdout);
  const problems: string[] = [];
  let isWanted = true;
  for (const line of said.split('\n').filter((one) => one.trim() !== '')) {
    const file = PLACE.exec(line)?.[1];
    if (file !== undefined) isWanted = wanted(file);
    if (isWanted) problems.push(line);
  }
  return { problems };
}

function compilerFor(config: string): string | undefined {
  for (const from of [config, import.meta.url]) {
    const { resolve } = createRequire(from);
    for (const name of COMPILERS) {
      const [packageName = '', ...path] = name.split('/');
      try {
        return join(resolve(`${packageName}/package.json`), '..', ...path);
      } catch {
        // Not installed: try the next one.
      }
    }
  }
  return undefined;
}
