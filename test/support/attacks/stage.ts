import type { Test } from 'tap';
import { DEFAULT_LIMITS, END_CODES, type Limits } from '../../../sandbox/contract.ts';
import type { AnswerBody, StartedService } from '../service.ts';
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../workspace.ts';
import type { Attack } from './attack.ts';

/** Small enough to end an attack soon, and large enough for honest calls on a busy machine. */
const ATTACKED_LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  memory_mb: 64,
  process_mb: 400,
  slice_ms: 300,
  cpu_ms: 600,
};
/**
 * Limits for attacks that must not end by time. Stretches are measured by wall time, and a busy machine runs them
 * slowly. On an idle machine no such attack needs a tenth of these limits.
 */
const PATIENT_LIMITS: Limits = { ...ATTACKED_LIMITS, slice_ms: 15_000, cpu_ms: 20_000 };
/** Seconds. */
const TIMEOUT = 4;
const PATIENT_TIMEOUT = 30;

/** A server whose plugins are attacks, and one honest plugin beside them. */
export interface AttackStage<S extends StartedService = StartedService> {
  readonly service: S;
  readonly workspace: Workspace;
  /** The id of the plugin that runs an attack. Called with `{ honest: true }`, it behaves honestly. */
  idOf(attack: Attack): string;
  attack(attack: Attack): Promise<Answer>;
}

export interface Answer {
  status: number;
  body: AnswerBody;
}

/** A plugin with attacks. It logs a line before an attack, and also serves honest calls. */
function attackSource(attacks: readonly Attack[]): string {
  const cases = attacks.map(({ body }, index) => `    case ${index}: {\n${body}\n}`);
  return `export async function handler(context) {
  if (context.params.honest === true) return 'honest';
  console.log('before');
  switch (context.params.attack) {
${cases.join('\n')}
  }
}
`;
}

/** Whether the attack only probes, and ends by itself without a limit. */
export function endsItself({ ends, limits }: Attack): boolean {
  return limits === undefined && ends.every((end) => end === 'returned' || end === 'threw');
}

/** Groups the attacks into plugins. Attacks that end by themselves share one plugin and its process. */
function inPlugins(attacks: readonly Attack[]): Attack[][] {
  const together = attacks.filter(endsItself);
  const alone = attacks.filter((attack) => !endsItself(attack)).map((attack) => [attack]);
  return together.length === 0 ? alone : [together, ...alone];
}

export interface StageOptions extends WorkspaceOptions {
  /** Prepares the workspace before the server starts. */
  prepare?(workspace: Workspace): Promise<unknown>;
}

/**
 * Starts a server on a folder with plugins for the attacks and the plugin `honest`.
 * @param start where the server runs
 */
export async function openStage<S extends StartedService>(
  t: Test,
  attacks: readonly Attack[],
  start: (env: Record<string, string>) => Promise<S>,
  { plugins = [], pluginFiles = {}, env = {}, prepare, ...more }: StageOptions = {},
): Promise<AttackStage<S>> {
  const together = inPlugins(attacks).map((group, index) => ({ id: `attack-${index}`, group }));
  const places = new Map(together.flatMap(({ id, group }) => group.map((attack, at) => [attack, { id, at }])));
  const idOf = (attack: Attack): string => places.get(attack)?.id ?? '';
  const workspace = await createWorkspace({
    ...more,
    plugins: [
      ...together.map(({ id, group }) => ({
        id,
        path: `${id}.ts`,
        timeout: group.some(({ ends }) => ends.includes('TIMEOUT')) ? TIMEOUT : PATIENT_TIMEOUT,
        emit_logs: true,
        limits: {
          ...(group.some(({ ends }) => ends.includes('CPU_LIMIT')) ? ATTACKED_LIMITS : PATIENT_LIMITS),
          ...group[0]?.limits,
        },
      })),
      ...plugins,
    ],
    pluginFiles: {
      ...Object.fromEntries(together.map(({ id, group }) => [`${id}.ts`, attackSource(group)])),
      'honest.ts': "export async function handler() { return 'honest'; }\n",
      ...pluginFiles,
    },
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000', ...env },
  });
  t.teardown(() => workspace.remove());
  await prepare?.(workspace);
  const service = await start(workspace.env);
  t.teardown(() => service.end());
  return {
    service,
    workspace,
    idOf,
    attack: (attack) => service.call(idOf(attack), { attack: places.get(attack)?.at }),
  };
}

/** The way in which a call ended, by its answer. */
export function endOf({ status, body }: Answer): string {
  if (status === 200) return 'returned';
  const code: unknown = body.data?.code;
  return typeof code === 'string' && code in END_CODES ? code : 'threw';
}
