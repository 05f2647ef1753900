import type { WireObject } from '../../domain/json/json.ts';
import type { Access } from '../../features/api-keys/records/access.ts';

/** Returns the plugin's view without the relayers, and their remaining budgets, that the key has no access to. */
export function seenPlugin(view: WireObject, access: Access): WireObject {
  const permissions = view['permissions'] as WireObject;
  const relayers = Object.entries(permissions['relayers'] as WireObject);
  const seen = relayers.filter(([id]) => access.sees('relayers', id));
  return { ...view, permissions: { ...permissions, relayers: Object.fromEntries(seen) } };
}
