import type { Test } from 'tap';
import { DEFAULT_LIMITS, END_CODES, type Limits } from '../../../sandbox/protocol.ts';
import { type AnswerBody, type RunningService, startService } from '../service.ts';
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../workspace.ts';
import type { Attack } from './attack.ts';

/** Small enough that an attack is soon over, large enough for honest calls on a busy machine. */
const ATTACKED_LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  memory_mb: 64,
  process_mb: 400,
  slice_ms: 300,
  cpu_ms: 600,
};
/**
 * For an attack that is not to end by its time: its stretch is measured by the clock, and a busy machine gives it little
 * of that. On a quiet one none takes a tenth of it.
 */
const PATIENT_LIMITS: Limits = { ...ATTACKED_LIMITS, slice_ms: 15_000, cpu_ms: 20_000 };
/** Seconds. */
const TIMEOUT = 4;
const PATIENT_TIMEOUT = 30;

/** A server whose plugins are attacks, and one honest plugin beside them. */
export interface AttackStage {
  readonly service: RunningService;
  readonly workspace: Workspace;
  /** The id of the plugin that runs an attack; called with `{ honest: true }` it is as good as any. */
  idOf(attack: Attack): string;
  attack(attack: Attack): Promise<Answer>;
}

export interface Answer {
  status: number;
  body: AnswerBody;
}

/** A plugin with an attack in it, which logs a line before it begins and serves honest calls. */
function attackSource(attack: Attack): string {
  return `export async function handler(context) {
  if (context.params.honest === true) return 'honest';
  console.log('before');
  ${attack.body}
}
`;
}

export interface StageOptions extends WorkspaceOptions {
  /** What has to be done before the server starts. */
  prepare?(workspace: Workspace): Promise<unknown>;
}

/** Starts a server on a folder with a plugin for each attack and the plugin `honest`. */
export async function openStage(
  t: Test,
  attacks: readonly Attack[],
  { plugins = [], pluginFiles = {}, env = {}, prepare, ...more }: StageOptions = {},
): Promise<AttackStage> {
  const ids = new Map(attacks.map((attack, index) => [attack, `attack-${index}`]));
  const idOf = (attack: Attack): string => ids.get(attack) ?? '';
  const workspace = await createWorkspace({
    ...more,
    plugins: [
      ...attacks.map((attack) => ({
        id: idOf(attack),
        path: `${idOf(attack)}.ts`,
        timeout: attack.ends.includes('TIMEOUT') ? TIMEOUT : PATIENT_TIMEOUT,
        emit_logs: true,
        limits: { ...(attack.ends.includes('CPU_LIMIT') ? ATTACKED_LIMITS : PATIENT_LIMITS), ...attack.limits },
      })),
      ...plugins,
    ],
    pluginFiles: {
      ...Object.fromEntries(attacks.map((attack) => [`${idOf(attack)}.ts`, attackSource(attack)])),
      'honest.ts': "export async function handler() { return 'honest'; }\n",
      ...pluginFiles,
    },
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000', ...env },
  });
  t.teardown(() => workspace.remove());
  await prepare?.(workspace);
  const service = await startService(workspace.env);
  t.teardown(() => service.kill());
  return { service, workspace, idOf, attack: (attack) => service.call(idOf(attack)) };
}

/** How an answer says that its call ended. */
export function endOf({ status, body }: Answer): string {
  if (status === 200) return 'returned';
  const code: unknown = body.data?.code;
  return typeof code === 'string' && code in END_CODES ? code : 'threw';
}
