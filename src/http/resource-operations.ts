import { z } from 'zod';
import { RESOURCE_PATHS } from '../features/api-keys/records/access.ts';
import { type Resource, resourceErrors } from '../features/resource.ts';
import { BODY, created, type Operation, one, operation, page } from './operation.ts';
import { pageQuerySchema } from './paging.ts';

/** The five operations of a resource. */
export function resourceOperations(kind: Omit<Resource<never>, 'open'>): Operation[] {
  const { name, noun, title = noun, nouns = `${title}s`, tag, schema, list, create, update, remove } = kind;
  const path = RESOURCE_PATHS[name];
  const [all, single] = [`/api/v1/${path}`, `/api/v1/${path}/:id`] as const;
  const [read, write] = [`${path}:read`, `${path}:write`] as const;
  const aTitle = `${/^[aeiou]/i.test(title) ? 'an' : 'a'} ${title}`;
  const Name = resourceSchemaName(kind);
  return [
    operation({
      tag,
      method: 'GET',
      path: all,
      query: pageQuerySchema,
      permission: read,
      id: `list${camelCase(path)}`,
      summary: `List ${nouns}`,
      answer: page(list.answer, schema),
      errors: ['INVALID_REQUEST'],
      handle: (call, { services }) => services.resources[name].list(call.page),
    }),
    operation({
      tag,
      method: 'POST',
      path: all,
      ...(create.answersSecret && { config: { answersSecret: true } }),
      permission: write,
      id: `create${Name}`,
      summary: create.summary ?? `Create ${aTitle}`,
      ...described(create),
      body: create.body,
      answer: created(create.answer ?? `The created ${noun}`, create.schema ?? schema),
      errors: [...BODY, ...resourceErrors(name, 'EXISTS'), ...(create.errors ?? [])],
      handle: (call, { services }) => services.resources[name].create(call.body, call.caller),
    }),
    operation({
      tag,
      method: 'GET',
      path: single,
      permission: read,
      id: `get${Name}`,
      summary: `Get ${aTitle}`,
      answer: one(`The ${noun}`, schema),
      errors: resourceErrors(name, 'NOT_FOUND'),
      handle: (call, { services }) => services.resources[name].get(call.params.id),
    }),
    operation({
      tag,
      method: 'PATCH',
      path: single,
      permission: write,
      id: `update${Name}`,
      summary: update.summary ?? `Update ${aTitle}`,
      ...described(update),
      body: update.body,
      answer: one(update.answer ?? `The ${noun} after the change`, schema),
      errors: [...BODY, ...resourceErrors(name, 'NOT_FOUND'), ...(update.errors ?? [])],
      handle: (call, { services }) => {
        const body = 'isOptional' in update.body && update.body.isOptional ? call.request.body : call.body;
        return services.resources[name].update(call.params.id, body, call.caller);
      },
    }),
    operation({
      tag,
      method: 'DELETE',
      path: single,
      permission: write,
      id: `delete${Name}`,
      summary: remove.summary ?? `Delete ${aTitle}`,
      ...described(remove),
      answer: one(remove.answer ?? 'Deleted', z.string()),
      errors: [...resourceErrors(name, 'NOT_FOUND', 'IN_USE'), ...(remove.errors ?? [])],
      async handle(call, { services }) {
        await services.resources[name].remove(call.params.id, call.caller);
        return `${noun.charAt(0).toUpperCase()}${noun.slice(1)} deleted successfully`;
      },
    }),
  ];
}

/** The name of its schema in the description. */
export function resourceSchemaName({ name }: Pick<Resource<never>, 'name'>): string {
  return camelCase(name);
}

function described({ description }: { description?: string }) {
  return description === undefined ? {} : { description };
}

/** `api_key` → `ApiKey`. */
function camelCase(name: string): string {
  return name.replace(/(?:^|[_-])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
