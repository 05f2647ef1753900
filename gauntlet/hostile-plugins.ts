import type { EndCode } from '../sandbox/protocol.ts';
import type { Attack } from '../test/support/attacks/attack.ts';

/** How a call ended, as its answer tells. */
export type End = EndCode | 'returned' | 'threw' | 'no answer';

/** The wall limit of a hostile plugin's call, in seconds. */
export const ATTACK_TIMEOUT_S = 5;

/** An attack as a plugin: its id and its source, which also knows how to serve an honest call. */
export interface HostilePlugin {
  readonly id: string;
  readonly attack: Attack;
  readonly source: string;
}

/** What an honest call of a hostile plugin returns. */
export const HONEST = 'honest';

/** How the ids of plugins that attack begin. */
export const HOSTILE = 'hostile-';

/** Makes each attack a plugin of its own. */
export function hostilePlugins(attacks: readonly Attack[]): HostilePlugin[] {
  return attacks.map((attack, index) => ({
    id: `${HOSTILE}${index + 1}`,
    attack,
    source: `// ${attack.name.replaceAll(/\s+/g, ' ')}
export async function handler(context) {
  if (context.params.honest) return '${HONEST}';
  ${attack.body}
}
`,
  }));
}
