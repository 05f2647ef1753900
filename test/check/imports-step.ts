import { runTool } from './command.ts';
import { listFiles, sourceFolders } from './project-files.ts';
import type { Step } from './step.ts';

interface Cruise {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
      readonly comment?: string;
      readonly cycle?: readonly { readonly name: string }[];
    }[];
  };
}

/** Runs dependency-cruiser over the folders that exist and reads its report. */
export async function cruise(root: string): Promise<Cruise> {
  const folders = sourceFolders.filter((folder) => listFiles(root, [folder]).length > 0);
  const args = ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', ...folders];
  const { stdout, stderr } = await runTool(root, 'depcruise', args);
  if (!stdout.startsWith('{')) throw new Error(`dependency-cruiser gave no report: ${stderr}${stdout}`);
  return JSON.parse(stdout) as Cruise;
}

/**
 * dependency-cruiser: the arrows between the folders. It is known to cruise nothing and report success when it does not
 * understand the compiler, so the modules it read are counted against the files that there are.
 */
export const importsStep: Step = {
  name: 'dependency-cruiser',
  async run(root) {
    const { modules, summary } = await cruise(root);
    const cruised = new Set(modules.map((module) => module.source));
    const expected = listFiles(root, sourceFolders);
    const missed = expected.filter((path) => !cruised.has(path));

    const failures = summary.violations.map(
      ({ rule, from, to, cycle }) =>
        `${rule.name}: ${from} → ${cycle === undefined ? to : cycle.map((station) => station.name).join(' → ')}`,
    );
    if (missed.length > 0) failures.push(`dependency-cruiser never read:\n${missed.join('\n')}`);
    if (listFiles(root, ['src', 'sandbox']).length === 0) failures.push('There is no file in src and sandbox.');
    return { looked: `${expected.length - missed.length} modules`, failures };
  },
};
