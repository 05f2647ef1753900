import { runTool } from './command.ts';
import { listWritten, sourceFolders } from './project-files.ts';
import { judgeReading, type Step } from './step.ts';

/** Biome: formatting and the order of imports. */
export const formatStep: Step = {
  name: 'biome',
  async run(root) {
    const { exitCode, stdout, stderr } = await runTool(root, 'biome', [
      'check',
      '--error-on-warnings',
      '--verbose',
      '.',
    ]);
    // The list of files comes last and is of no interest once it is read.
    const [report = '', list = ''] = stdout.split(/ VERBOSE .*\n/);
    const read = [...list.matchAll(/^ *- (.+)$/gm)].map(([, path = '']) => path.trim());
    const { looked, failures } = judgeReading('Biome', read, listWritten(root, sourceFolders));
    const offences = exitCode === 0 ? [] : [`${stderr}${report}\nnpm run format puts most of this right.`];
    return { looked, failures: [...offences, ...failures] };
  },
};
