import { runTool } from './command.ts';
import { listWritten, sourceFolders } from './project-files.ts';
import { judgeReading, type Step } from './step.ts';

/** oxlint with types: promises that nobody awaits, any, cycles and the like. */
export const lintStep: Step = {
  name: 'oxlint',
  async run(root) {
    const list = await runTool(root, 'oxlint', ['--debug=files', '.']);
    const { exitCode, stdout, stderr } = await runTool(root, 'oxlint', ['--type-aware', '--deny-warnings', '.']);
    const { looked, failures } = judgeReading('oxlint', list.stdout.split('\n'), listWritten(root, sourceFolders));
    const offences = exitCode === 0 ? [] : [`${stdout}${stderr}`];
    return { looked, failures: [...offences, ...failures] };
  },
};
