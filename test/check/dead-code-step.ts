import { existsSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { runTool } from './command.ts';
import { listFiles, sourceFolders } from './project-files.ts';
import type { Step } from './step.ts';

/** knip: files, exports and packages that nothing uses. */
export const deadCodeStep: Step = {
  name: 'knip',
  async run(root) {
    const { exitCode, stdout, stderr } = await runTool(root, 'knip', [
      '--no-progress',
      '--treat-config-hints-as-errors',
    ]);
    const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'));
    const { workspaces } = read('knip.json') as { workspaces: { '.': { entry: string[]; project: string[] } } };
    const { scripts = {} } = read('package.json') as { scripts?: Record<string, string> };

    // knip says nothing about an entry that is gone, and then nothing of what only that entry uses is looked at.
    const entries = [
      ...workspaces['.'].entry,
      ...Object.values(scripts).flatMap((line) => line.match(/\S+\.ts\b/g) ?? []),
    ];
    const gone = entries.filter((path) => !path.includes('*') && !existsSync(join(root, path)));
    const patterns = [...workspaces['.'].entry, ...workspaces['.'].project];
    const files = listFiles(root, sourceFolders);
    const looked = files.filter((path) => patterns.some((pattern) => matchesGlob(path, pattern))).length;

    const failures = exitCode === 0 ? [] : [`${stdout}${stderr}`];
    if (gone.length > 0) failures.push(`Entries that do not exist:\n${gone.join('\n')}`);
    if (looked < files.length) failures.push('knip.json leaves out a file of ours.');
    if (looked === 0) failures.push('There is no file for knip to read.');
    return { looked: `${looked} files`, failures };
  },
};
