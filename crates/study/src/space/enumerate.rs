//! Counting the points of a space and numbering them.

use super::{Coordinate, Distribution, Part, Point, Space};

impl Space {
    /// The number of possible points; none when a parameter is continuous. More than a `u128` holds counts as its
    /// maximum.
    pub fn size(&self) -> Option<u128> {
        self.total
    }

    /// Possible point number `index` in lexicographic order; nothing beyond the last, or when a parameter is continuous.
    pub fn nth(&self, index: u128) -> Option<Point> {
        if index >= self.size()? {
            return None;
        }
        let mut coordinates = vec![None; self.len()];
        self.fill(self.roots.iter().copied(), 0, index, &mut coordinates);
        Some(Point::new(coordinates))
    }

    /// Fills `sizes` and `total`.
    pub(super) fn count_points(&mut self) {
        for index in (0..self.len()).rev() {
            self.sizes[index] = self.combinations(index);
        }
        self.total = product(self.roots.iter().map(|part| self.part_size(*part, 0)));
    }

    fn combinations(&self, index: usize) -> Option<u128> {
        let count = self.parameters[index].distribution.count()?;
        if self.children[index].is_empty() {
            return Some(u128::from(count));
        }
        (0..count as usize).try_fold(0_u128, |sum, choice| {
            Some(sum.saturating_add(self.combinations_under(index, choice)?))
        })
    }

    /// Combinations of everything that hangs on a parameter with this choice.
    fn combinations_under(&self, index: usize, choice: usize) -> Option<u128> {
        product(
            self.active_parts(index, choice)
                .map(|part| self.part_size(part, choice)),
        )
    }

    /// Combinations of a part, under a choice of what it hangs on.
    fn part_size(&self, part: Part, choice: usize) -> Option<u128> {
        match part {
            Part::Parameter(index) => self.sizes[index],
            Part::Tie(tie) => Some(self.ties[tie].rows[choice].len() as u128),
        }
    }

    /// The parts that depend on a parameter and are active under this choice.
    fn active_parts(
        &self,
        index: usize,
        choice: usize,
    ) -> impl DoubleEndedIterator<Item = Part> + '_ {
        let is_open = move |part: &Part| match part {
            Part::Parameter(child) => self.gates[*child]
                .as_ref()
                .is_some_and(|gate| gate.open[choice]),
            Part::Tie(_) => true,
        };
        self.children[index].iter().copied().filter(is_open)
    }

    /// Writes combination number `rest` of some independent parts under a choice; the last changes fastest.
    fn fill(
        &self,
        parts: impl DoubleEndedIterator<Item = Part>,
        choice: usize,
        mut rest: u128,
        coordinates: &mut [Option<Coordinate>],
    ) {
        for part in parts.rev() {
            let size = self
                .part_size(part, choice)
                .expect("only discrete spaces are enumerated");
            match part {
                Part::Parameter(index) => self.fill_one(index, rest % size, coordinates),
                Part::Tie(tie) => {
                    let tie = &self.ties[tie];
                    tie.write(&tie.rows[choice][(rest % size) as usize], coordinates);
                }
            }
            rest /= size;
        }
    }

    fn fill_one(&self, index: usize, mut rest: u128, coordinates: &mut [Option<Coordinate>]) {
        let distribution: &Distribution = &self.parameters[index].distribution;
        if self.children[index].is_empty() {
            coordinates[index] = Some(distribution.nth(rest as u64));
            return;
        }
        let mut choice = 0;
        loop {
            let size = self
                .combinations_under(index, choice)
                .expect("only discrete spaces are enumerated");
            if rest < size {
                break;
            }
            rest -= size;
            choice += 1;
        }
        coordinates[index] = Some(Coordinate::Choice(choice));
        self.fill(self.active_parts(index, choice), choice, rest, coordinates);
    }
}

fn product(mut sizes: impl Iterator<Item = Option<u128>>) -> Option<u128> {
    sizes.try_fold(1_u128, |product, size| Some(product.saturating_mul(size?)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::Parameter;
    use super::super::tests::{categorical, conditional};
    use super::*;

    #[test]
    fn every_point_has_one_number() {
        let space = conditional();
        // a: 4 widths, b: 4 widths · 2 blocks, c: alone; each with 3 of `free`.
        assert_eq!(space.size(), Some((4 + 8 + 1) * 3));
        let points: Vec<Point> = (0..39).map(|index| space.nth(index).unwrap()).collect();
        let different: HashSet<&Point> = points.iter().collect();
        assert_eq!(different.len(), 39);
        assert_eq!(space.nth(39), None);
        for point in &points {
            let again = space.build(|index, _| point.get(index).expect("the same are active"));
            assert_eq!(&again, point);
        }
    }

    #[test]
    fn large_spaces_are_counted() {
        let thirty = |choices: &[&str]| {
            (0..30)
                .map(|k| categorical(&k.to_string(), choices, None))
                .collect::<Vec<Parameter>>()
        };
        let ten = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let space = Space::new(thirty(&ten)).unwrap();
        assert_eq!(space.size(), Some(10_u128.pow(30)));
        assert_eq!(
            space.nth(10_u128.pow(30) - 1).unwrap().get(0),
            Some(Coordinate::Choice(9))
        );
    }
}
