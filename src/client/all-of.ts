/** The most items that the service returns in one page. */
const PER_PAGE = 500;

interface PageOf<Item> {
  data: Item[];
  pagination: { total_items: number };
}

/** Reads all pages of a list. An item that moves to another page between two reads appears once. */
export async function allOf<Item extends { id: string }>(
  read: (query: { page: number; per_page: number }) => Promise<PageOf<Item>>,
): Promise<Item[]> {
  const all = new Map<string, Item>();
  for (let page = 1, total = 1; (page - 1) * PER_PAGE < total; page += 1) {
    const { data, pagination } = await read({ page, per_page: PER_PAGE });
    for (const one of data) all.set(one.id, one);
    total = pagination.total_items;
  }
  return [...all.values()];
}
