import { runTool } from './command.ts';
import { listFiles, sourceFolders } from './project-files.ts';
import type { Step } from './step.ts';

/** Biome: formatting and the order of imports. */
export const formatStep: Step = {
  name: 'biome',
  async run(root) {
    const { exitCode, stdout, stderr } = await runTool(root, 'biome', ['check', '--error-on-warnings', '.']);
    const looked = Number(/Checked (\d+) file/.exec(stdout + stderr)?.[1] ?? 0);
    const expected = listFiles(root, sourceFolders).length;
    const failures: string[] = [];
    if (exitCode !== 0) failures.push(`${stderr}${stdout}\nnpm run format puts most of this right.`);
    if (looked < expected || looked === 0) failures.push(`Biome looked at ${looked} files, and there are ${expected}.`);
    return { looked: `${looked} files`, failures };
  },
};
