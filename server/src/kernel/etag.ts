// Lists of ETags in conditional requests.

export const parseEtags = (list: string): string[] => list.split(',').map((tag) => tag.trim());
