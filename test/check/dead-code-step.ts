import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from './command.ts';
import { listFiles } from './project-files.ts';
import type { Step } from './step.ts';

/** knip: files, exports and packages that nothing uses. An entry that is gone would make it look at less, so entries must exist. */
export const deadCodeStep: Step = {
  name: 'knip',
  async run(root) {
    const { exitCode, stdout, stderr } = await runTool(root, 'knip', [
      '--no-progress',
      '--treat-config-hints-as-errors',
    ]);
    const config = JSON.parse(readFileSync(join(root, 'knip.json'), 'utf8')) as {
      workspaces: { '.': { entry: string[]; project: string[] } };
    };
    const { entry, project } = config.workspaces['.'];
    const gone = entry.filter((path) => !path.includes('*') && !existsSync(join(root, path.replace(/!$/, ''))));
    const looked = project.flatMap((pattern) => listFiles(root, ['.'], pattern.replace(/!$/, ''))).length;

    const failures: string[] = [];
    if (exitCode !== 0) failures.push(`${stdout}${stderr}`);
    if (gone.length > 0) failures.push(`knip.json names entries that do not exist:\n${gone.join('\n')}`);
    if (looked === 0) failures.push('knip.json names no file.');
    return { looked: `${looked} files`, failures };
  },
};
