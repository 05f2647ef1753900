import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The URLs of the files that a program loads. The program is given as text. */
export async function loadedModules(program: string): Promise<string[]> {
  const told = `
    import { registerHooks } from 'node:module';
    import { writeSync } from 'node:fs';
    registerHooks({ load(url, context, next) { writeSync(1, url + '\\n'); return next(url, context); } });
    ${program}`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', told], { cwd: import.meta.dirname });
  return stdout.trim().split('\n');
}
