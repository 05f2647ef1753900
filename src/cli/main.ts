/** The entry of `npx isolayer <command>`. */
import { resolveOwnModules } from '../loading/own-modules.ts';
import { takePackages } from '../loading/take-packages.ts';

takePackages();
resolveOwnModules();
const [{ openKeyboard }, { runCommand }] = await Promise.all([import('./keyboard.ts'), import('./run.ts')]);

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  say: console.log,
  complain: console.error,
  now: () => new Date(),
  keyboard: openKeyboard(process.stdin, process.stderr),
  request: fetch,
});
