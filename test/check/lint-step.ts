import { runTool } from './command.ts';
import { listFiles, sourceFolders } from './project-files.ts';
import type { Step } from './step.ts';

/** oxlint with types: promises that nobody awaits, any, cycles and the like. */
export const lintStep: Step = {
  name: 'oxlint',
  async run(root) {
    const { exitCode, stdout, stderr } = await runTool(root, 'oxlint', ['--type-aware', '--deny-warnings', '.']);
    const looked = Number(/ on (\d+) files? with/.exec(stdout)?.[1] ?? 0);
    const expected = listFiles(root, sourceFolders).length;
    const failures: string[] = [];
    if (exitCode !== 0) failures.push(`${stdout}${stderr}`);
    if (looked < expected || looked === 0)
      failures.push(`oxlint looked at ${looked} files, and there are ${expected}.`);
    return { looked: `${looked} files`, failures };
  },
};
